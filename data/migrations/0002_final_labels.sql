CREATE TABLE store.final_label (
    round            VARCHAR NOT NULL,
    item_id          VARCHAR NOT NULL,
    artifact_id      VARCHAR NOT NULL,
    taxonomy         VARCHAR NOT NULL,
    taxonomy_version VARCHAR NOT NULL,
    code             VARCHAR NOT NULL,
    settled_by       VARCHAR NOT NULL,
    run_id           VARCHAR NOT NULL,
    PRIMARY KEY (round, taxonomy, item_id, code)
);

CREATE VIEW final_labels AS
SELECT artifact_id, round, taxonomy, taxonomy_version, code, settled_by, item_id, run_id
FROM store.final_label;

COMMENT ON VIEW final_labels IS 'One row for each code that a study uses for an item, after all disagreements were settled.';
COMMENT ON COLUMN final_labels.artifact_id IS 'What was labelled, such as github:pytorch/pytorch#123';
COMMENT ON COLUMN final_labels.round IS 'Labelling round';
COMMENT ON COLUMN final_labels.taxonomy IS 'Taxonomy that the code belongs to';
COMMENT ON COLUMN final_labels.taxonomy_version IS 'Version of that taxonomy';
COMMENT ON COLUMN final_labels.code IS 'The code';
COMMENT ON COLUMN final_labels.settled_by IS 'How it became final: imported, unanimous, negotiated or adjudicated';
COMMENT ON COLUMN final_labels.item_id IS 'The labelled item: the artifact id, with ~2, ~3 behind it where a sheet lists one artifact more than once';
COMMENT ON COLUMN final_labels.run_id IS 'The run that wrote the row';
