-- The newest result is the one that was stored last: clocks go back, and runs overtake each other.
CREATE SEQUENCE store.result_number;

CREATE TABLE store.result (
    number     BIGINT NOT NULL DEFAULT nextval('store.result_number'),
    run_id     VARCHAR NOT NULL,
    result     VARCHAR NOT NULL,
    analysis   VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    content    JSON NOT NULL,
    PRIMARY KEY (run_id, result)
);

CREATE TABLE store.claim (
    run_id    VARCHAR NOT NULL,
    result    VARCHAR NOT NULL,
    claim_id  VARCHAR NOT NULL,
    statement VARCHAR NOT NULL,
    value     DOUBLE,
    unit      VARCHAR NOT NULL,
    count     BIGINT,
    total     BIGINT,
    low       DOUBLE,
    high      DOUBLE,
    method    VARCHAR NOT NULL,
    query     VARCHAR NOT NULL,
    printed   DOUBLE,
    status    VARCHAR NOT NULL,
    reason    VARCHAR NOT NULL,
    PRIMARY KEY (run_id, claim_id)
);

CREATE VIEW results AS
SELECT
    result, analysis, parameters, content, run_id,
    number = max(number) OVER (PARTITION BY result) AS is_latest
FROM store.result;

CREATE VIEW claims AS
SELECT
    claim_id, result, statement, value, unit, low, high, count, total, method, query, printed,
    status, reason, run_id
FROM store.claim
SEMI JOIN results ON results.is_latest AND results.run_id = claim.run_id
    AND results.result = claim.result;

COMMENT ON VIEW results IS 'One row for each analysis that was run and stored.';
COMMENT ON COLUMN results.result IS 'Name of the result and of its folder under out/';
COMMENT ON COLUMN results.analysis IS 'The analysis that made it';
COMMENT ON COLUMN results.parameters IS 'What it was called with';
COMMENT ON COLUMN results.content IS 'Tables, figure data, claims and notes, as the report renders them';
COMMENT ON COLUMN results.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN results.is_latest IS 'Whether it is the newest result of that name';
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
COMMENT ON COLUMN claims.printed IS 'The published figure it is compared with';
COMMENT ON COLUMN claims.status IS 'reproduced, near, not reproduced, inconsistent or no data; empty without a published figure';
COMMENT ON COLUMN claims.reason IS 'Why that status';
COMMENT ON COLUMN claims.run_id IS 'The run that wrote the row';
