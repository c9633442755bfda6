-- Public packages of published studies, as their files have them: raw first, then interpreted.
CREATE TABLE store.package_file (
    package VARCHAR NOT NULL,            -- hp-defects, dl-faults, ...
    file    VARCHAR NOT NULL,            -- what the study calls it, whatever the folder does
    digest  VARCHAR NOT NULL,            -- SHA-256
    size    BIGINT NOT NULL,
    run_id  VARCHAR NOT NULL,
    PRIMARY KEY (package, file)
);

CREATE TABLE store.package_row (
    package VARCHAR NOT NULL,
    file    VARCHAR NOT NULL,
    sheet   VARCHAR NOT NULL,            -- of a workbook; '' for a CSV file
    line    INTEGER NOT NULL,            -- from 1; of a CSV file the record
    cells   JSON NOT NULL,               -- a list of texts; null for an empty cell
    run_id  VARCHAR NOT NULL,
    PRIMARY KEY (package, file, sheet, line)
);

CREATE VIEW package_files AS SELECT package, file, digest, size, run_id FROM store.package_file;

COMMENT ON VIEW package_files IS 'One row for each file of a published study''s package that was imported.';
COMMENT ON COLUMN package_files.package IS 'The study, such as hp-defects';
COMMENT ON COLUMN package_files.file IS 'The file, by the name that the study gives it';
COMMENT ON COLUMN package_files.digest IS 'SHA-256 of the file';
COMMENT ON COLUMN package_files.size IS 'Bytes';
COMMENT ON COLUMN package_files.run_id IS 'The run that wrote the row';

CREATE VIEW package_rows AS
SELECT package, file, sheet, line, from_json(cells, '["VARCHAR"]') AS cells, run_id
FROM store.package_row;

COMMENT ON VIEW package_rows IS 'One row for each row of those files, as text.';
COMMENT ON COLUMN package_rows.package IS 'The study, such as hp-defects';
COMMENT ON COLUMN package_rows.file IS 'The file, by the name that the study gives it';
COMMENT ON COLUMN package_rows.sheet IS 'Of a workbook; empty for a CSV file';
COMMENT ON COLUMN package_rows.line IS 'From 1; of a CSV file the record';
COMMENT ON COLUMN package_rows.cells IS 'Cells as text; NULL for an empty one';
COMMENT ON COLUMN package_rows.run_id IS 'The run that wrote the row';
