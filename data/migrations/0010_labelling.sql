-- A taxonomy as it was when labels were given with it.
CREATE TABLE store.taxonomy_text (
    taxonomy VARCHAR NOT NULL,
    version  VARCHAR NOT NULL,
    text     VARCHAR NOT NULL,           -- the YAML file
    run_id   VARCHAR NOT NULL,
    PRIMARY KEY (taxonomy, version)
);

-- How one version of a taxonomy became the next.
CREATE TABLE store.taxonomy_change (
    taxonomy     VARCHAR NOT NULL,
    from_version VARCHAR NOT NULL,
    to_version   VARCHAR NOT NULL,
    position     INTEGER NOT NULL,
    kind         VARCHAR NOT NULL,       -- rename, move, merge, split, retire, add
    old_codes    VARCHAR[] NOT NULL,
    new_codes    VARCHAR[] NOT NULL,
    reason       VARCHAR NOT NULL,
    run_id       VARCHAR NOT NULL,
    PRIMARY KEY (taxonomy, from_version, to_version, position)
);

CREATE TABLE store.rater (
    rater    VARCHAR PRIMARY KEY,        -- how the study calls her; no need for a real name
    added_at TIMESTAMP NOT NULL,
    run_id   VARCHAR NOT NULL
);

CREATE TABLE store.round (
    round            VARCHAR PRIMARY KEY,
    origin           VARCHAR NOT NULL,   -- designed, imported, relabelling
    sample           VARCHAR,
    taxonomy         VARCHAR NOT NULL,
    taxonomy_version VARCHAR NOT NULL,
    choice           VARCHAR NOT NULL,   -- single, multiple
    after_round      VARCHAR,            -- its gate must be passed first
    overlap          DOUBLE,             -- percent of items that all raters label; NULL if imported
    seed             BIGINT,
    statistic        VARCHAR,            -- fixed beforehand; NULL if none was
    threshold        DOUBLE,
    suggestions      BOOLEAN NOT NULL,   -- whether raters are shown what a model proposes
    created_at       TIMESTAMP NOT NULL,
    run_id           VARCHAR NOT NULL
);

CREATE TABLE store.round_rater (
    round    VARCHAR NOT NULL,
    rater    VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    run_id   VARCHAR NOT NULL,
    PRIMARY KEY (round, rater)
);

CREATE TABLE store.item (
    round       VARCHAR NOT NULL,
    item_id     VARCHAR NOT NULL,        -- the artifact, with ~2, ~3 where it stands there again
    artifact_id VARCHAR NOT NULL,
    position    INTEGER NOT NULL,
    stratum     VARCHAR NOT NULL,
    place       VARCHAR,                 -- of a sheet: file and row
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (round, item_id)
);

CREATE TABLE store.assignment (
    round    VARCHAR NOT NULL,
    item_id  VARCHAR NOT NULL,
    rater    VARCHAR NOT NULL,
    position INTEGER NOT NULL,           -- in this rater's own order, from 1
    run_id   VARCHAR NOT NULL,
    PRIMARY KEY (round, item_id, rater)
);

-- What a rater said of an item, once. Nothing is ever changed here: a change is another answer.
CREATE TABLE store.answer (
    answer_id        VARCHAR PRIMARY KEY,
    round            VARCHAR NOT NULL,
    item_id          VARCHAR NOT NULL,
    artifact_id      VARCHAR NOT NULL,
    rater            VARCHAR NOT NULL,
    stage            VARCHAR NOT NULL,   -- independent, negotiated, adjudicated
    taxonomy         VARCHAR NOT NULL,
    taxonomy_version VARCHAR NOT NULL,
    codes            VARCHAR[] NOT NULL, -- none: the answer before was withdrawn
    confidence       DOUBLE,             -- 1 (guess) to 5 (sure)
    comment          VARCHAR,
    proposed         VARCHAR,            -- the name of a new code
    lead_time_s      DOUBLE,
    labelled_at      TIMESTAMP,
    origin           VARCHAR NOT NULL,   -- the sheet's row, or server, project, task and annotation
    supersedes       VARCHAR,
    run_id           VARCHAR NOT NULL
);

-- Answers that a changed taxonomy leaves undecided.
CREATE TABLE store.relabel (
    answer_id    VARCHAR NOT NULL,
    to_version   VARCHAR NOT NULL,
    code         VARCHAR NOT NULL,       -- that was split
    choices      VARCHAR[] NOT NULL,
    run_id       VARCHAR NOT NULL,
    PRIMARY KEY (answer_id, to_version, code)
);

-- How an item got its final codes. Another decision in the same version supersedes it.
CREATE TABLE store.settlement (
    settlement_id    VARCHAR PRIMARY KEY,
    round            VARCHAR NOT NULL,
    item_id          VARCHAR NOT NULL,
    artifact_id      VARCHAR NOT NULL,
    taxonomy         VARCHAR NOT NULL,
    taxonomy_version VARCHAR NOT NULL,
    codes            VARCHAR[] NOT NULL, -- none: the item is open again
    settled_by       VARCHAR NOT NULL,   -- imported, single, unanimous, majority, negotiated, adjudicated
    rule             VARCHAR NOT NULL,   -- a sentence
    adjudicator      VARCHAR,
    comment          VARCHAR,
    settled_at       TIMESTAMP,
    supersedes       VARCHAR,
    run_id           VARCHAR NOT NULL
);

INSERT INTO store.settlement
SELECT
    left(sha256(concat_ws(chr(0), round, taxonomy, item_id)), 16), round, item_id,
    any_value(artifact_id), taxonomy, any_value(taxonomy_version), list(code ORDER BY code),
    any_value(settled_by), 'as the sheet says', NULL, NULL, NULL, NULL, any_value(run_id)
FROM store.final_label GROUP BY round, taxonomy, item_id;

CREATE TABLE store.gate (
    round      VARCHAR NOT NULL,
    stage      VARCHAR NOT NULL,
    statistic  VARCHAR NOT NULL,
    threshold  DOUBLE NOT NULL,
    value      DOUBLE,
    low        DOUBLE,
    high       DOUBLE,
    items      INTEGER NOT NULL,
    is_passed  BOOLEAN NOT NULL,
    reason     VARCHAR NOT NULL,         -- also: why somebody went on without
    decided_at TIMESTAMP NOT NULL,
    run_id     VARCHAR NOT NULL
);

-- The Label Studio side: who is who, which project is which, which task is which.
CREATE TABLE store.account (
    server   VARCHAR NOT NULL,
    rater    VARCHAR NOT NULL,
    user_id  BIGINT NOT NULL,
    username VARCHAR NOT NULL,
    run_id   VARCHAR NOT NULL,
    PRIMARY KEY (server, rater)
);

CREATE TABLE store.project (
    server           VARCHAR NOT NULL,
    project_id       BIGINT NOT NULL,
    round            VARCHAR NOT NULL,
    rater            VARCHAR NOT NULL,
    stage            VARCHAR NOT NULL,
    taxonomy_version VARCHAR NOT NULL,
    blindness        VARCHAR NOT NULL,   -- own project, own server
    run_id           VARCHAR NOT NULL,
    retired_at       TIMESTAMP,          -- another project took its place; its labels were pulled
    PRIMARY KEY (server, project_id)
);

CREATE TABLE store.task (
    server       VARCHAR NOT NULL,
    project_id   BIGINT NOT NULL,
    task_id      BIGINT NOT NULL,
    item_id      VARCHAR NOT NULL,
    content_hash VARCHAR NOT NULL,
    run_id       VARCHAR NOT NULL,
    is_pulled    BOOLEAN NOT NULL,       -- whether a label of it was pulled: then it can be deleted
    PRIMARY KEY (server, project_id, task_id)
);

CREATE TABLE store.suggestion (
    round       VARCHAR NOT NULL,
    item_id     VARCHAR NOT NULL,
    code        VARCHAR NOT NULL,
    probability DOUBLE NOT NULL,
    position    INTEGER NOT NULL,        -- 1 for the most likely code
    model       VARCHAR NOT NULL,        -- what it was trained on, and how
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (round, item_id, code)
);

DROP VIEW final_labels;
DROP TABLE store.final_label;

CREATE VIEW final_labels AS
SELECT
    artifact_id, round, taxonomy, taxonomy_version, unnest(codes) AS code, settled_by, rule,
    adjudicator, item_id, settlement_id, settled_at, run_id
FROM (
    SELECT * FROM store.settlement
    WHERE settlement_id NOT IN
        (SELECT supersedes FROM store.settlement WHERE supersedes IS NOT NULL)
    -- Of an item that was settled in several versions of the taxonomy, the highest.
    QUALIFY row_number() OVER (
        PARTITION BY round, taxonomy, item_id
        ORDER BY
            [TRY_CAST(part AS INTEGER) FOR part IN string_split(taxonomy_version, '.')] DESC,
            settlement_id
    ) = 1
);

COMMENT ON VIEW final_labels IS 'One row for each code that a study uses for an item, after all disagreements were settled.';
COMMENT ON COLUMN final_labels.artifact_id IS 'What was labelled, such as github:pytorch/pytorch#123';
COMMENT ON COLUMN final_labels.round IS 'Labelling round';
COMMENT ON COLUMN final_labels.taxonomy IS 'Taxonomy that the code belongs to';
COMMENT ON COLUMN final_labels.taxonomy_version IS 'Version of that taxonomy; of an item that was settled in several, the highest';
COMMENT ON COLUMN final_labels.code IS 'The code; ~unclear, ~not-a-fault and ~new are answers that are no code';
COMMENT ON COLUMN final_labels.settled_by IS 'How it became final: imported, single, unanimous, majority, negotiated or adjudicated';
COMMENT ON COLUMN final_labels.rule IS 'The rule that decided, in words';
COMMENT ON COLUMN final_labels.adjudicator IS 'The rater who decided, if one did';
COMMENT ON COLUMN final_labels.item_id IS 'The labelled item: the artifact id, with ~2, ~3 behind it where a sheet lists one artifact more than once';
COMMENT ON COLUMN final_labels.settlement_id IS 'The decision; earlier ones stay in store.settlement';
COMMENT ON COLUMN final_labels.settled_at IS 'UTC; NULL where a sheet does not say';
COMMENT ON COLUMN final_labels.run_id IS 'The run that wrote the row';

CREATE VIEW raters AS SELECT rater, added_at, run_id FROM store.rater;

COMMENT ON VIEW raters IS 'One row for each rater.';
COMMENT ON COLUMN raters.rater IS 'How the study calls the rater';
COMMENT ON COLUMN raters.added_at IS 'UTC';
COMMENT ON COLUMN raters.run_id IS 'The run that wrote the row';

CREATE VIEW rounds AS
SELECT
    round, origin, sample, taxonomy, taxonomy_version, choice,
    (SELECT list(rater ORDER BY position) FROM store.round_rater r WHERE r.round = round.round)
        AS raters,
    (SELECT count(*) FROM store.item i WHERE i.round = round.round) AS item_count,
    after_round, overlap, seed, statistic, threshold, suggestions,
    (SELECT string_agg(DISTINCT blindness, ', ' ORDER BY blindness) FROM store.project p
        WHERE p.round = round.round AND p.stage = 'independent') AS blindness,
    created_at, run_id
FROM store.round;

COMMENT ON VIEW rounds IS 'One row for each labelling round: what is labelled, by whom, with which taxonomy, under which rules.';
COMMENT ON COLUMN rounds.round IS 'Name of the round';
COMMENT ON COLUMN rounds.origin IS 'designed (here), imported (from sheets) or relabelling (after a taxonomy changed)';
COMMENT ON COLUMN rounds.sample IS 'Sample that its items are from';
COMMENT ON COLUMN rounds.taxonomy IS 'Taxonomy';
COMMENT ON COLUMN rounds.taxonomy_version IS 'The version that raters used at first';
COMMENT ON COLUMN rounds.choice IS 'single or multiple codes for an item';
COMMENT ON COLUMN rounds.raters IS 'Raters in their order';
COMMENT ON COLUMN rounds.item_count IS 'Items';
COMMENT ON COLUMN rounds.after_round IS 'The round whose gate must be passed first';
COMMENT ON COLUMN rounds.overlap IS 'Percent of the items that all raters label; assignments say who labels the others';
COMMENT ON COLUMN rounds.seed IS 'Seed of assignment and orders';
COMMENT ON COLUMN rounds.statistic IS 'Statistic of agreement that was fixed beforehand; NULL if none was';
COMMENT ON COLUMN rounds.threshold IS 'What it must reach';
COMMENT ON COLUMN rounds.suggestions IS 'Whether raters were shown what a model proposes';
COMMENT ON COLUMN rounds.blindness IS 'own project (one server, raters could look) or own server; NULL where Label Studio was not used';
COMMENT ON COLUMN rounds.created_at IS 'UTC';
COMMENT ON COLUMN rounds.run_id IS 'The run that wrote the row';

CREATE VIEW items AS
SELECT round, item_id, artifact_id, position, stratum, place, run_id FROM store.item;

COMMENT ON VIEW items IS 'One row for each item of each round.';
COMMENT ON COLUMN items.round IS 'Round';
COMMENT ON COLUMN items.item_id IS 'The artifact id, with ~2, ~3 behind it where a round has one artifact more than once';
COMMENT ON COLUMN items.artifact_id IS 'What is labelled';
COMMENT ON COLUMN items.position IS 'Order in the round, from 1';
COMMENT ON COLUMN items.stratum IS 'Of the sample, or of the sheet';
COMMENT ON COLUMN items.place IS 'Of an imported item: file and row';
COMMENT ON COLUMN items.run_id IS 'The run that wrote the row';

CREATE VIEW assignments AS
SELECT round, item_id, rater, position, run_id FROM store.assignment;

COMMENT ON VIEW assignments IS 'One row for each item that a rater is to label.';
COMMENT ON COLUMN assignments.round IS 'Round';
COMMENT ON COLUMN assignments.item_id IS 'Item';
COMMENT ON COLUMN assignments.rater IS 'Rater';
COMMENT ON COLUMN assignments.position IS 'Order for this rater, from 1';
COMMENT ON COLUMN assignments.run_id IS 'The run that wrote the row';

CREATE VIEW labels AS
WITH coded AS (SELECT *, generate_subscripts(codes, 1) AS number FROM store.answer)
SELECT
    answer_id || '/' || number AS label_id, round, item_id, artifact_id, rater, taxonomy,
    taxonomy_version, codes[number] AS code, confidence, comment, proposed, lead_time_s,
    labelled_at, stage, supersedes,
    answer_id NOT IN (SELECT supersedes FROM store.answer WHERE supersedes IS NOT NULL)
        AS is_current,
    answer_id, origin, run_id
FROM coded;

COMMENT ON VIEW labels IS 'One row for each code that a rater gave an item; never overwritten.';
COMMENT ON COLUMN labels.label_id IS 'Id of the row';
COMMENT ON COLUMN labels.round IS 'Round';
COMMENT ON COLUMN labels.item_id IS 'Item';
COMMENT ON COLUMN labels.artifact_id IS 'What was labelled';
COMMENT ON COLUMN labels.rater IS 'Who';
COMMENT ON COLUMN labels.taxonomy IS 'Taxonomy of the code';
COMMENT ON COLUMN labels.taxonomy_version IS 'Version of the taxonomy that the rater used';
COMMENT ON COLUMN labels.code IS 'The code; ~unclear, ~not-a-fault and ~new are answers that are no code';
COMMENT ON COLUMN labels.confidence IS '1 (guess) to 5 (sure); NULL if not given';
COMMENT ON COLUMN labels.comment IS 'What the rater noted';
COMMENT ON COLUMN labels.proposed IS 'Name of the new code that the rater proposes';
COMMENT ON COLUMN labels.lead_time_s IS 'Seconds that the item was open';
COMMENT ON COLUMN labels.labelled_at IS 'UTC; NULL where a sheet does not say';
COMMENT ON COLUMN labels.stage IS 'independent, negotiated (after discussion) or adjudicated (by a third)';
COMMENT ON COLUMN labels.supersedes IS 'The answer that this one replaces';
COMMENT ON COLUMN labels.is_current IS 'Whether no later answer replaces it';
COMMENT ON COLUMN labels.answer_id IS 'The answer that the code is part of: several codes given at once share it';
COMMENT ON COLUMN labels.origin IS 'Row of a sheet, or server, project, task and annotation';
COMMENT ON COLUMN labels.run_id IS 'The run that wrote the row';

CREATE VIEW gates AS
SELECT
    round, stage, statistic, threshold, value, low, high, items, is_passed, reason, decided_at,
    run_id
FROM store.gate;

COMMENT ON VIEW gates IS 'One row for each decision whether agreement was high enough to go on.';
COMMENT ON COLUMN gates.round IS 'Round';
COMMENT ON COLUMN gates.stage IS 'Labels that were measured: independent or negotiated';
COMMENT ON COLUMN gates.statistic IS 'Statistic of agreement';
COMMENT ON COLUMN gates.threshold IS 'What it had to reach';
COMMENT ON COLUMN gates.value IS 'What it was; NULL if it could not be computed';
COMMENT ON COLUMN gates.low IS 'Lower end of its 95 % interval';
COMMENT ON COLUMN gates.high IS 'Upper end';
COMMENT ON COLUMN gates.items IS 'Items with at least two raters';
COMMENT ON COLUMN gates.is_passed IS 'Whether the study may go on';
COMMENT ON COLUMN gates.reason IS 'In words; also why a round was begun although the gate was not passed';
COMMENT ON COLUMN gates.decided_at IS 'UTC';
COMMENT ON COLUMN gates.run_id IS 'The run that wrote the row';

CREATE VIEW suggestions AS
SELECT round, item_id, code, probability, position, model, run_id FROM store.suggestion;

COMMENT ON VIEW suggestions IS 'One row for each code that a model proposes for an item.';
COMMENT ON COLUMN suggestions.round IS 'Round';
COMMENT ON COLUMN suggestions.item_id IS 'Item';
COMMENT ON COLUMN suggestions.code IS 'Code';
COMMENT ON COLUMN suggestions.probability IS 'Calibrated probability';
COMMENT ON COLUMN suggestions.position IS '1 for the most likely code of the item';
COMMENT ON COLUMN suggestions.model IS 'What it was trained on, and how';
COMMENT ON COLUMN suggestions.run_id IS 'The run that wrote the row';
