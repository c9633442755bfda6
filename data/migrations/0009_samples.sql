-- What was drawn, from what, and how: enough to derive every draw again.
CREATE TABLE store.sample (
    sample     VARCHAR PRIMARY KEY,
    frame      VARCHAR NOT NULL,         -- the condition on `candidates`; '' for all of them
    method     VARCHAR NOT NULL,         -- simple, stratified, highest
    allocation VARCHAR NOT NULL,         -- proportional, equal, optimal, each; '' without strata
    strata     VARCHAR[] NOT NULL,       -- columns
    ordered_by VARCHAR NOT NULL,         -- of highest: the column; of optimal: what varies
    seed       BIGINT NOT NULL,
    run_id     VARCHAR NOT NULL
);

-- One row for each time that something was drawn: the sample, then its extensions.
CREATE TABLE store.sample_draw (
    sample      VARCHAR NOT NULL,
    draw        INTEGER NOT NULL,        -- 1, 2, ...
    frame_query VARCHAR NOT NULL,        -- the whole query that gave the frame
    frame_count BIGINT NOT NULL,
    frame_hash  VARCHAR NOT NULL,
    size        INTEGER NOT NULL,        -- of the sample after this draw
    size_rule   VARCHAR NOT NULL,        -- a sentence: formula, confidence, margin, rounding
    confidence  DOUBLE,                  -- percent; NULL where the size was given
    margin      DOUBLE,
    rounding    VARCHAR,
    drawn_at    TIMESTAMP NOT NULL,
    run_id      VARCHAR NOT NULL,
    asked       INTEGER,                 -- the size that was given; NULL where it was computed
    taken       INTEGER,                 -- by this draw, also what was forgotten since
    PRIMARY KEY (sample, draw)
);

-- A frame, once for each state of it: also what was not drawn.
CREATE TABLE store.frame_member (
    frame_hash  VARCHAR NOT NULL,
    artifact_id VARCHAR NOT NULL,
    stratum     VARCHAR NOT NULL,
    rank_value  DOUBLE,                  -- of highest: what it is ordered by; of optimal: what varies
    run_id      VARCHAR NOT NULL
);

CREATE TABLE store.sampled (
    sample      VARCHAR NOT NULL,
    position    INTEGER NOT NULL,        -- 1, 2, ...; an extension goes on, what is forgotten leaves a gap
    artifact_id VARCHAR NOT NULL,
    stratum     VARCHAR NOT NULL,
    draw        INTEGER NOT NULL,
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (sample, artifact_id),
    UNIQUE (sample, position)
);

CREATE VIEW samples AS
SELECT
    sample, stratum, position, seed, frame_hash, artifact_id, draw, method, sampled.run_id
FROM store.sampled
JOIN store.sample USING (sample)
JOIN store.sample_draw USING (sample, draw);

COMMENT ON VIEW samples IS 'One row for each artifact of each sample.';
COMMENT ON COLUMN samples.sample IS 'Name of the sample';
COMMENT ON COLUMN samples.stratum IS 'Values of the columns that it was stratified by, joined by / ; empty without strata';
COMMENT ON COLUMN samples.position IS 'Its place in the order of drawing, from 1';
COMMENT ON COLUMN samples.seed IS 'Seed of the draw';
COMMENT ON COLUMN samples.frame_hash IS 'SHA-256 of what it was drawn from, see sample_draws';
COMMENT ON COLUMN samples.artifact_id IS 'What was drawn';
COMMENT ON COLUMN samples.draw IS '1 for the first draw, 2 and more for extensions';
COMMENT ON COLUMN samples.method IS 'simple, stratified or highest';
COMMENT ON COLUMN samples.run_id IS 'The run that wrote the row';

CREATE VIEW sample_draws AS
SELECT
    sample, draw, method, allocation, strata, ordered_by, seed, frame_query, frame_count,
    frame_hash, size, size_rule, confidence, margin, rounding, drawn_at, sample_draw.run_id, asked,
    taken
FROM store.sample_draw JOIN store.sample USING (sample);

COMMENT ON VIEW sample_draws IS 'One row for each time that something was drawn: what from, how many, by which rule.';
COMMENT ON COLUMN sample_draws.sample IS 'Name of the sample';
COMMENT ON COLUMN sample_draws.draw IS '1 for the first draw, 2 and more for extensions';
COMMENT ON COLUMN sample_draws.method IS 'simple, stratified or highest (the first by a column: no random sample)';
COMMENT ON COLUMN sample_draws.allocation IS 'How a stratified sample is shared out: proportional, equal, optimal (by size and spread) or each (the size is that of every stratum)';
COMMENT ON COLUMN sample_draws.strata IS 'Columns that the frame is divided by';
COMMENT ON COLUMN sample_draws.ordered_by IS 'Of highest: what by; of optimal: whose spread counts';
COMMENT ON COLUMN sample_draws.seed IS 'Seed of the draw';
COMMENT ON COLUMN sample_draws.frame_query IS 'The query that gave the frame';
COMMENT ON COLUMN sample_draws.frame_count IS 'Artifacts in the frame';
COMMENT ON COLUMN sample_draws.frame_hash IS 'SHA-256 of the frame: of its ids, strata and values of ordered_by in the order of ids (docs/labelling.md)';
COMMENT ON COLUMN sample_draws.size IS 'Artifacts in the sample after this draw';
COMMENT ON COLUMN sample_draws.size_rule IS 'How the size came about, rounding included';
COMMENT ON COLUMN sample_draws.confidence IS 'Percent; NULL where the size was given';
COMMENT ON COLUMN sample_draws.margin IS 'Percent; NULL where the size was given';
COMMENT ON COLUMN sample_draws.rounding IS 'nearest or up; NULL where the size was given';
COMMENT ON COLUMN sample_draws.asked IS 'The size that was given; NULL where it was computed';
COMMENT ON COLUMN sample_draws.taken IS 'Artifacts that this draw added, also those that were forgotten since';
COMMENT ON COLUMN sample_draws.drawn_at IS 'UTC';
COMMENT ON COLUMN sample_draws.run_id IS 'The run that wrote the row';
