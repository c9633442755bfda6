-- Tables live in the schema `store` and belong to the program; users read the views in `main`.
CREATE SCHEMA IF NOT EXISTS store;

CREATE TABLE store.run (
    run_id     VARCHAR PRIMARY KEY,
    command    VARCHAR NOT NULL,
    arguments  JSON NOT NULL,
    version    VARCHAR NOT NULL,
    started_at TIMESTAMP NOT NULL,
    ended_at   TIMESTAMP,
    outcome    VARCHAR NOT NULL
);

CREATE VIEW runs AS
SELECT run_id, command, arguments, version, started_at, ended_at, outcome FROM store.run;

COMMENT ON VIEW runs IS 'One row for each command that wrote to the study.';
COMMENT ON COLUMN runs.run_id IS 'Sorts by time of start; every other row names the run that wrote it';
COMMENT ON COLUMN runs.command IS 'Command and subcommand, as typed';
COMMENT ON COLUMN runs.arguments IS 'Options and arguments by name; secrets are replaced by ***';
COMMENT ON COLUMN runs.version IS 'Version of faultatlas';
COMMENT ON COLUMN runs.started_at IS 'UTC';
COMMENT ON COLUMN runs.ended_at IS 'UTC; NULL while it runs or when it was killed';
COMMENT ON COLUMN runs.outcome IS 'running, ok, partial, failed or interrupted';
