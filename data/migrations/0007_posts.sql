-- Derived from stored responses, like store.issue.
CREATE TABLE store.post (
    artifact_id        VARCHAR PRIMARY KEY,
    site               VARCHAR NOT NULL,
    post_id            BIGINT NOT NULL,
    title              VARCHAR,
    body               VARCHAR,
    tags               VARCHAR[] NOT NULL,
    score              INTEGER,
    view_count         INTEGER,
    answer_count       INTEGER,
    accepted_answer_id BIGINT,
    author             VARCHAR,
    license            VARCHAR,
    created_at         TIMESTAMP,
    edited_at          TIMESTAMP,
    closed_at          TIMESTAMP,
    updated_at         TIMESTAMP,
    url                VARCHAR,
    row_hash           UBIGINT NOT NULL,
    run_id             VARCHAR NOT NULL,
    fetched_at         TIMESTAMP NOT NULL,
    response_id        VARCHAR NOT NULL
);

CREATE TABLE store.reply (
    comment_id  VARCHAR PRIMARY KEY,
    artifact_id VARCHAR NOT NULL,
    is_answer   BOOLEAN NOT NULL,
    post_id     BIGINT NOT NULL,         -- of an answer its own; of a comment the question or answer it is on
    author      VARCHAR,
    body        VARCHAR,
    score       INTEGER,
    license     VARCHAR,
    created_at  TIMESTAMP,
    edited_at   TIMESTAMP,
    updated_at  TIMESTAMP,
    url         VARCHAR,
    gone_at     TIMESTAMP,
    row_hash    UBIGINT NOT NULL,
    run_id      VARCHAR NOT NULL,
    fetched_at  TIMESTAMP NOT NULL,
    response_id VARCHAR NOT NULL
);

-- What the site itself said of questions: a file that is read later may be older.
CREATE TABLE store.post_told (
    artifact_id VARCHAR PRIMARY KEY,
    told_at     TIMESTAMP NOT NULL,      -- when the API last gave the question
    answers_at  TIMESTAMP,               -- and when with all its answers
    comments_at TIMESTAMP,               -- and when with all comments as well
    run_id      VARCHAR NOT NULL
);

-- How far a dump was read. The hash of what was read tells whether a file is the same one.
CREATE TABLE store.dump_read (
    stream      VARCHAR PRIMARY KEY,     -- site, kind of file, selection
    name        VARCHAR NOT NULL,        -- of the file, without its folder
    size        BIGINT NOT NULL,
    position    BIGINT NOT NULL,         -- everything before is stored
    digest      VARCHAR NOT NULL,        -- BLAKE3 of the bytes before position; when complete, of the file
    rows_seen   BIGINT NOT NULL,
    rows_kept   BIGINT NOT NULL,
    is_complete BOOLEAN NOT NULL,
    turn        INTEGER NOT NULL,        -- which file it is: one that differs is read from its start
    known_to    BIGINT NOT NULL,         -- of answers and comments: how far their posts were read
    tally       JSON NOT NULL,           -- kinds of rows, and damaged ones, so far
    run_id      VARCHAR NOT NULL,
    updated_at  TIMESTAMP NOT NULL
);

CREATE VIEW posts AS
SELECT
    artifact_id, site, post_id, title, tags, score, view_count, answer_count, accepted_answer_id,
    author, license, created_at, edited_at, closed_at, updated_at, url, gone_at,
    reason AS gone_reason, post.run_id, fetched_at, post.response_id
FROM store.post LEFT JOIN store.departure USING (artifact_id);

COMMENT ON VIEW posts IS 'One row for each question of Stack Overflow or another Stack Exchange site.';
COMMENT ON COLUMN posts.artifact_id IS 'Such as stackoverflow:47267612';
COMMENT ON COLUMN posts.site IS 'Such as stackoverflow.com';
COMMENT ON COLUMN posts.post_id IS 'Number of the question on its site';
COMMENT ON COLUMN posts.title IS 'As the site gave it, without HTML';
COMMENT ON COLUMN posts.tags IS 'In the site''s order';
COMMENT ON COLUMN posts.score IS 'Votes for it minus votes against';
COMMENT ON COLUMN posts.view_count IS 'As the site counts';
COMMENT ON COLUMN posts.answer_count IS 'As the site counts; the answers are in comments';
COMMENT ON COLUMN posts.accepted_answer_id IS 'Number of the answer that the asker accepted; NULL for none';
COMMENT ON COLUMN posts.author IS 'Pseudonym';
COMMENT ON COLUMN posts.license IS 'Of question and title, such as CC BY-SA 4.0';
COMMENT ON COLUMN posts.created_at IS 'UTC';
COMMENT ON COLUMN posts.edited_at IS 'When the question was last edited. UTC';
COMMENT ON COLUMN posts.closed_at IS 'When the question was closed; NULL while it is open. UTC';
COMMENT ON COLUMN posts.updated_at IS 'Last activity. UTC';
COMMENT ON COLUMN posts.url IS 'Page for a reader';
COMMENT ON COLUMN posts.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN posts.gone_reason IS 'not found: the site no longer gives it';
COMMENT ON COLUMN posts.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN posts.fetched_at IS 'When the site, or the dump that was read then, said so. UTC';
COMMENT ON COLUMN posts.response_id IS 'The response, or part of a dump, that it came from';

CREATE VIEW dumps AS
SELECT
    stream, name, size, position, digest, rows_seen, rows_kept, is_complete, run_id, updated_at
FROM store.dump_read;

COMMENT ON VIEW dumps IS 'One row for each data dump that was read, for each selection.';
COMMENT ON COLUMN dumps.stream IS 'Site, kind of file and selection';
COMMENT ON COLUMN dumps.name IS 'Of the file';
COMMENT ON COLUMN dumps.size IS 'Bytes of the file, unpacked as far as it was read';
COMMENT ON COLUMN dumps.position IS 'Bytes that were read';
COMMENT ON COLUMN dumps.digest IS 'BLAKE3, as b3sum prints it, of what was read; of the whole file when it is complete';
COMMENT ON COLUMN dumps.rows_seen IS 'Rows of the file that were looked at';
COMMENT ON COLUMN dumps.rows_kept IS 'Rows that were selected';
COMMENT ON COLUMN dumps.is_complete IS 'Whether the file was read to its end';
COMMENT ON COLUMN dumps.run_id IS 'The run that read last';
COMMENT ON COLUMN dumps.updated_at IS 'UTC';
