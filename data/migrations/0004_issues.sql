-- What a source said, before it is interpreted. Every table below `store.response` down to
-- `store.alias` is derived from it and can be derived again.
CREATE TABLE store.response (
    number      BIGINT PRIMARY KEY,      -- the order in which they were stored
    response_id VARCHAR NOT NULL,        -- of request and body: the same page has the same id
    run_id      VARCHAR NOT NULL,
    source      VARCHAR NOT NULL,
    project     VARCHAR NOT NULL,
    request     JSON NOT NULL,           -- what was asked for, as the code that reads it needs it
    url         VARCHAR NOT NULL,
    final_url   VARCHAR NOT NULL,
    status      SMALLINT NOT NULL,
    headers     JSON NOT NULL,
    fetched_at  TIMESTAMP NOT NULL,
    size        BIGINT NOT NULL,
    body        BLOB NOT NULL            -- Zstandard
);

CREATE TABLE store.issue (
    artifact_id        VARCHAR PRIMARY KEY,
    source             VARCHAR NOT NULL,
    project            VARCHAR NOT NULL,
    number             VARCHAR NOT NULL,
    is_pull            BOOLEAN NOT NULL,
    node_id            VARCHAR,
    title              VARCHAR,
    body               VARCHAR,
    author             VARCHAR,
    author_association VARCHAR,
    state              VARCHAR,
    state_reason       VARCHAR,
    tracker_labels     VARCHAR[] NOT NULL,
    tracker_type       VARCHAR,
    tracker_priority   INTEGER,
    milestone          VARCHAR,
    comment_count      INTEGER,
    reaction_count     INTEGER,
    is_locked          BOOLEAN,
    is_draft           BOOLEAN,
    created_at         TIMESTAMP,
    updated_at         TIMESTAMP,
    closed_at          TIMESTAMP,
    merged_at          TIMESTAMP,
    closed_by          VARCHAR,
    url                VARCHAR,
    row_hash           UBIGINT NOT NULL,
    run_id             VARCHAR NOT NULL,
    fetched_at         TIMESTAMP NOT NULL,
    response_id        VARCHAR NOT NULL
);

CREATE TABLE store.comment (
    comment_id         VARCHAR PRIMARY KEY,
    artifact_id        VARCHAR NOT NULL,
    author             VARCHAR,
    author_association VARCHAR,
    body               VARCHAR,
    created_at         TIMESTAMP,
    updated_at         TIMESTAMP,
    url                VARCHAR,
    gone_at            TIMESTAMP,
    row_hash           UBIGINT NOT NULL,
    run_id             VARCHAR NOT NULL,
    fetched_at         TIMESTAMP NOT NULL,
    response_id        VARCHAR NOT NULL
);

CREATE TABLE store.issue_event (
    event_id    VARCHAR PRIMARY KEY,
    artifact_id VARCHAR NOT NULL,
    kind        VARCHAR NOT NULL,
    actor       VARCHAR,
    label       VARCHAR,
    other_id    VARCHAR,
    detail      VARCHAR,
    created_at  TIMESTAMP,
    row_hash    UBIGINT NOT NULL,
    run_id      VARCHAR NOT NULL,
    fetched_at  TIMESTAMP NOT NULL,
    response_id VARCHAR NOT NULL
);

CREATE TABLE store.departure (
    artifact_id VARCHAR PRIMARY KEY,
    reason      VARCHAR NOT NULL,
    moved_to    VARCHAR,
    gone_at     TIMESTAMP NOT NULL,
    run_id      VARCHAR NOT NULL,
    response_id VARCHAR NOT NULL
);

CREATE TABLE store.lost_label (
    artifact_id VARCHAR NOT NULL,
    label       VARCHAR NOT NULL,
    lost_at     TIMESTAMP NOT NULL,
    run_id      VARCHAR NOT NULL,
    response_id VARCHAR NOT NULL,
    PRIMARY KEY (artifact_id, label)
);

CREATE TABLE store.alias (
    alias       VARCHAR PRIMARY KEY,
    artifact_id VARCHAR NOT NULL,
    kind        VARCHAR NOT NULL,
    run_id      VARCHAR NOT NULL,
    response_id VARCHAR NOT NULL
);

-- Where to go on. Written in the same transaction as the page before it.
CREATE TABLE store.checkpoint (
    stream       VARCHAR PRIMARY KEY,
    project      VARCHAR NOT NULL,
    selection    JSON NOT NULL,          -- what the list is about, and what its walk must know
    url          VARCHAR NOT NULL,       -- the page to ask for next; when complete, the last one again
    since        VARCHAR,                -- of that page
    etag         VARCHAR,                -- of that page, when it was asked for before
    is_complete  BOOLEAN NOT NULL,
    listed_count BIGINT,                 -- what the source's search counted
    counted_at   TIMESTAMP,
    run_id       VARCHAR NOT NULL,
    updated_at   TIMESTAMP NOT NULL
);

-- Which state of an issue its comments or events belong to.
CREATE TABLE store.part_read (
    artifact_id VARCHAR NOT NULL,
    part        VARCHAR NOT NULL,
    updated_at  TIMESTAMP,               -- of the issue
    is_short    BOOLEAN NOT NULL,        -- the source listed fewer than it counts
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (artifact_id, part)
);

-- Issues that a file named: only these are taken from a list that holds more.
CREATE TABLE store.wanted (
    artifact_id VARCHAR PRIMARY KEY,
    run_id      VARCHAR NOT NULL
);

CREATE TABLE store.traffic (
    run_id          VARCHAR NOT NULL,
    project         VARCHAR NOT NULL,
    requests        INTEGER NOT NULL,
    not_modified    INTEGER NOT NULL,
    waited_s        DOUBLE NOT NULL,
    quota_limit     INTEGER,
    quota_left      INTEGER,
    quota_resets_at TIMESTAMP,
    PRIMARY KEY (run_id, project)
);

-- Tells a lost and newly made study.key from the one that made the pseudonyms.
CREATE TABLE store.key_check (
    fingerprint VARCHAR NOT NULL,
    run_id      VARCHAR NOT NULL
);

CREATE TABLE store.forgotten (
    subject      VARCHAR PRIMARY KEY,    -- an artifact id, or the pseudonym of a person
    kind         VARCHAR NOT NULL,
    forgotten_at TIMESTAMP NOT NULL,
    run_id       VARCHAR NOT NULL
);

CREATE VIEW artifacts AS
SELECT
    issue.artifact_id, CASE WHEN is_pull THEN 'pull' ELSE 'issue' END AS kind, source, project,
    title, body, author, created_at, url, gone_at, reason AS gone_reason,
    issue.run_id, issue.fetched_at, issue.response_id
FROM store.issue LEFT JOIN store.departure USING (artifact_id)
UNION ALL
SELECT
    artifact_id, NULL, regexp_extract(artifact_id, '^[a-z]+'),
    nullif(regexp_extract(artifact_id, '^[a-z]+:([^#@]+)[#@]', 1), ''),
    NULL, NULL, NULL, NULL, NULL, gone_at, reason, run_id, gone_at, response_id
FROM store.departure WHERE artifact_id NOT IN (SELECT artifact_id FROM store.issue)
UNION ALL
SELECT
    subject, NULL, regexp_extract(subject, '^[a-z]+'),
    nullif(regexp_extract(subject, '^[a-z]+:([^#@]+)[#@]', 1), ''),
    NULL, NULL, NULL, NULL, NULL, forgotten_at, 'forgotten', run_id, forgotten_at, NULL
FROM store.forgotten WHERE kind = 'artifact';

COMMENT ON VIEW artifacts IS 'One row for anything that can be labelled.';
COMMENT ON COLUMN artifacts.artifact_id IS 'Such as github:pytorch/pytorch#123';
COMMENT ON COLUMN artifacts.kind IS 'issue or pull; NULL where the source never showed it';
COMMENT ON COLUMN artifacts.source IS 'github or gitee';
COMMENT ON COLUMN artifacts.project IS 'Such as pytorch/pytorch; the host comes first when it is not the public one';
COMMENT ON COLUMN artifacts.title IS 'As the source gave it';
COMMENT ON COLUMN artifacts.body IS 'Markdown, as the source gave it';
COMMENT ON COLUMN artifacts.author IS 'Pseudonym';
COMMENT ON COLUMN artifacts.created_at IS 'UTC';
COMMENT ON COLUMN artifacts.url IS 'Page for a reader';
COMMENT ON COLUMN artifacts.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN artifacts.gone_reason IS 'deleted, not found, transferred, blocked or forgotten';
COMMENT ON COLUMN artifacts.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN artifacts.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN artifacts.response_id IS 'The response it came from';

CREATE VIEW artifact_aliases AS SELECT alias, artifact_id, kind, run_id, response_id FROM store.alias;

COMMENT ON VIEW artifact_aliases IS 'One row for another name of an artifact.';
COMMENT ON COLUMN artifact_aliases.alias IS 'The other name';
COMMENT ON COLUMN artifact_aliases.artifact_id IS 'What it names; for an old repository name the new one';
COMMENT ON COLUMN artifact_aliases.kind IS 'repository, transfer, node, short_hash or answer';
COMMENT ON COLUMN artifact_aliases.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN artifact_aliases.response_id IS 'The response it came from';

CREATE VIEW issues AS
SELECT
    issue.artifact_id, project, number, is_pull, title, state, state_reason, tracker_labels,
    tracker_type, tracker_priority, milestone, comment_count, reaction_count, author, author_association, closed_by,
    is_locked, is_draft, created_at, updated_at, closed_at, merged_at, node_id, lost_labels,
    gone_at, reason AS gone_reason, moved_to, issue.run_id, issue.fetched_at, issue.response_id
FROM store.issue
LEFT JOIN store.departure USING (artifact_id)
LEFT JOIN (
    SELECT artifact_id, list(label ORDER BY label) AS lost_labels
    FROM store.lost_label GROUP BY artifact_id
) USING (artifact_id);

COMMENT ON VIEW issues IS 'One row for each issue or pull request.';
COMMENT ON COLUMN issues.artifact_id IS 'Such as github:pytorch/pytorch#123';
COMMENT ON COLUMN issues.project IS 'Such as pytorch/pytorch';
COMMENT ON COLUMN issues.number IS 'As the tracker writes it: 123 on GitHub, I65G7B on Gitee';
COMMENT ON COLUMN issues.is_pull IS 'Whether it is a pull request';
COMMENT ON COLUMN issues.title IS 'As the tracker gave it';
COMMENT ON COLUMN issues.state IS 'open or closed; Gitee also has progressing and rejected';
COMMENT ON COLUMN issues.state_reason IS 'Why it is in that state, such as completed or not_planned';
COMMENT ON COLUMN issues.tracker_labels IS 'Labels in the tracker, not those of raters; sorted';
COMMENT ON COLUMN issues.tracker_type IS 'Type in the tracker, such as Bug';
COMMENT ON COLUMN issues.tracker_priority IS 'Gitee''s priority: 1 unimportant, 2 secondary, 3 main, 4 serious, 0 not set';
COMMENT ON COLUMN issues.milestone IS 'Title of the milestone';
COMMENT ON COLUMN issues.comment_count IS 'As the tracker counts; the rows are in comments';
COMMENT ON COLUMN issues.reaction_count IS 'As the tracker counts';
COMMENT ON COLUMN issues.author IS 'Pseudonym';
COMMENT ON COLUMN issues.author_association IS 'The author''s relation to the project, such as MEMBER';
COMMENT ON COLUMN issues.closed_by IS 'Pseudonym';
COMMENT ON COLUMN issues.is_locked IS 'Whether it is closed for comments';
COMMENT ON COLUMN issues.is_draft IS 'Whether a pull request is a draft';
COMMENT ON COLUMN issues.created_at IS 'UTC';
COMMENT ON COLUMN issues.updated_at IS 'UTC';
COMMENT ON COLUMN issues.closed_at IS 'UTC';
COMMENT ON COLUMN issues.merged_at IS 'UTC; of a pull request';
COMMENT ON COLUMN issues.node_id IS 'The API''s own id; a new name does not change it, a transfer does';
COMMENT ON COLUMN issues.lost_labels IS 'Labels for which it was fetched and which it was later found to have lost';
COMMENT ON COLUMN issues.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN issues.gone_reason IS 'deleted, not found, transferred or blocked';
COMMENT ON COLUMN issues.moved_to IS 'Where a transferred issue is now';
COMMENT ON COLUMN issues.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN issues.fetched_at IS 'When the tracker said so. UTC';
COMMENT ON COLUMN issues.response_id IS 'The response it came from';

CREATE VIEW comments AS
SELECT
    comment_id, artifact_id, author, author_association, created_at, updated_at, body,
    false AS is_answer, false AS is_accepted, url, gone_at, run_id, fetched_at, response_id
FROM store.comment;

COMMENT ON VIEW comments IS 'One row for each comment or answer.';
COMMENT ON COLUMN comments.comment_id IS 'Such as github:comment/123';
COMMENT ON COLUMN comments.artifact_id IS 'What it is a comment on';
COMMENT ON COLUMN comments.author IS 'Pseudonym';
COMMENT ON COLUMN comments.author_association IS 'The author''s relation to the project, such as MEMBER';
COMMENT ON COLUMN comments.created_at IS 'UTC';
COMMENT ON COLUMN comments.updated_at IS 'UTC';
COMMENT ON COLUMN comments.body IS 'Markdown, as the source gave it';
COMMENT ON COLUMN comments.is_answer IS 'Whether it is an answer to a question';
COMMENT ON COLUMN comments.is_accepted IS 'Whether it is the accepted answer';
COMMENT ON COLUMN comments.url IS 'Page for a reader';
COMMENT ON COLUMN comments.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN comments.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN comments.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN comments.response_id IS 'The response it came from';

CREATE VIEW issue_events AS
SELECT
    event_id, artifact_id, kind, actor, label, other_id, detail, created_at,
    run_id, fetched_at, response_id
FROM store.issue_event;

COMMENT ON VIEW issue_events IS 'One row for each event in the timeline of an issue.';
COMMENT ON COLUMN issue_events.event_id IS 'Made of what happened';
COMMENT ON COLUMN issue_events.artifact_id IS 'The issue';
COMMENT ON COLUMN issue_events.kind IS 'labeled, unlabeled, closed, reopened, cross-referenced, transferred, ...';
COMMENT ON COLUMN issue_events.actor IS 'Pseudonym';
COMMENT ON COLUMN issue_events.label IS 'The label that was given or taken';
COMMENT ON COLUMN issue_events.other_id IS 'The other artifact: what refers to the issue, or the commit that closed it';
COMMENT ON COLUMN issue_events.detail IS 'The reason for closing, or the new title';
COMMENT ON COLUMN issue_events.created_at IS 'UTC';
COMMENT ON COLUMN issue_events.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN issue_events.fetched_at IS 'When the tracker said so. UTC';
COMMENT ON COLUMN issue_events.response_id IS 'The response it came from';

CREATE VIEW responses AS
SELECT
    response_id, number, source, project, request ->> 'kind' AS kind, url, final_url, status,
    size, fetched_at, run_id
FROM store.response;

COMMENT ON VIEW responses IS 'One row for each stored response of a source: every mined row names one.';
COMMENT ON COLUMN responses.response_id IS 'Hash of request and body';
COMMENT ON COLUMN responses.number IS 'The order in which they were stored';
COMMENT ON COLUMN responses.source IS 'github or gitee';
COMMENT ON COLUMN responses.project IS 'Such as github:pytorch/pytorch';
COMMENT ON COLUMN responses.kind IS 'What was asked for, such as issues or comments';
COMMENT ON COLUMN responses.url IS 'What was asked for, below the API''s address; never with a token';
COMMENT ON COLUMN responses.final_url IS 'Where redirects led';
COMMENT ON COLUMN responses.status IS 'HTTP status';
COMMENT ON COLUMN responses.size IS 'Bytes of the body before compression';
COMMENT ON COLUMN responses.fetched_at IS 'UTC';
COMMENT ON COLUMN responses.run_id IS 'The run that asked';
