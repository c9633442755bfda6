-- A claim leads to its rows.
ALTER TABLE store.claim ADD COLUMN rows_query VARCHAR;

CREATE OR REPLACE VIEW claims AS
SELECT
    claim_id, result, statement, value, unit, low, high, count, total, method, query, rows_query,
    printed, status, reason, run_id
FROM store.claim
SEMI JOIN results ON results.is_latest AND results.run_id = claim.run_id
    AND results.result = claim.result;

COMMENT ON VIEW claims IS 'One row for each number of the newest results.';
COMMENT ON COLUMN claims.claim_id IS 'Stable name of the number';
COMMENT ON COLUMN claims.result IS 'The result it belongs to';
COMMENT ON COLUMN claims.statement IS 'What the number says';
COMMENT ON COLUMN claims.value IS 'The number';
COMMENT ON COLUMN claims.unit IS 'Unit of value, low, high and printed';
COMMENT ON COLUMN claims.low IS 'Lower end of the interval';
COMMENT ON COLUMN claims.high IS 'Upper end of the interval';
COMMENT ON COLUMN claims.count IS 'Numerator, where the number is a share';
COMMENT ON COLUMN claims.total IS 'Denominator, where the number is a share';
COMMENT ON COLUMN claims.method IS 'How the interval was made';
COMMENT ON COLUMN claims.query IS 'The analysis and the field that yields the number';
COMMENT ON COLUMN claims.rows_query IS 'SQL on the views that gives the rows behind the number; NULL where they are shipped facts';
COMMENT ON COLUMN claims.printed IS 'The published figure it is compared with';
COMMENT ON COLUMN claims.status IS 'reproduced, near, not reproduced, inconsistent or no data; empty without a published figure';
COMMENT ON COLUMN claims.reason IS 'Why that status';
COMMENT ON COLUMN claims.run_id IS 'The run that wrote the row';
