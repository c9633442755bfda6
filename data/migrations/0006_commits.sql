-- Readings of git repositories, in their order. What they read is derived from a clone, and can
-- be derived again as long as the clone has the tips.
CREATE TABLE store.git_walk (
    number      BIGINT PRIMARY KEY,
    project     VARCHAR NOT NULL,
    place       VARCHAR NOT NULL,        -- address or path that was read; never with a password
    tips        JSON NOT NULL,           -- ref -> hash that it pointed to
    seen        VARCHAR[] NOT NULL,      -- tips of earlier readings: what they reach was left out
    options     JSON NOT NULL,           -- lexicons with their hashes, and what else was asked for
    is_complete BOOLEAN NOT NULL,
    run_id      VARCHAR NOT NULL,
    started_at  TIMESTAMP NOT NULL
);

CREATE TABLE store.commit (
    artifact_id     VARCHAR PRIMARY KEY,
    project         VARCHAR NOT NULL,
    sha             VARCHAR NOT NULL,
    parents         VARCHAR[] NOT NULL,
    author          VARCHAR,
    author_epoch    BIGINT,
    author_zone     VARCHAR,
    committer       VARCHAR,
    committer_epoch BIGINT,
    committer_zone  VARCHAR,
    created_at      TIMESTAMP,
    message         VARCHAR,
    encoding        VARCHAR,             -- NULL for UTF-8
    problem         VARCHAR,             -- with the message
    gone_at         TIMESTAMP,
    gone_reason     VARCHAR,
    run_id          VARCHAR NOT NULL,
    fetched_at      TIMESTAMP NOT NULL
);

-- Commits whose changes were read. A table of its own: rows of commits are never written twice.
CREATE TABLE store.commit_diff (
    artifact_id    VARCHAR NOT NULL,
    diff           VARCHAR NOT NULL,     -- read, part or unreadable
    functions_read BOOLEAN NOT NULL,
    problem        VARCHAR,              -- with the changes
    run_id         VARCHAR NOT NULL      -- that wrote these, and the files, hunks and functions
);

CREATE TABLE store.commit_file (
    artifact_id VARCHAR NOT NULL,
    position    INTEGER NOT NULL,
    path        VARCHAR NOT NULL,
    old_path    VARCHAR,
    path_bytes  BLOB,                    -- where a name is not UTF-8: both, with NUL between
    change      VARCHAR NOT NULL,
    similarity  SMALLINT,
    old_mode    VARCHAR,
    new_mode    VARCHAR,
    old_blob    VARCHAR,
    new_blob    VARCHAR,
    added       INTEGER,
    deleted     INTEGER,
    hunks       INTEGER,
    problem     VARCHAR
);

CREATE TABLE store.commit_hunk (
    artifact_id VARCHAR NOT NULL,
    file        INTEGER NOT NULL,        -- position of the file
    position    INTEGER NOT NULL,
    old_start   INTEGER NOT NULL,
    old_lines   INTEGER NOT NULL,
    new_start   INTEGER NOT NULL,
    new_lines   INTEGER NOT NULL,
    section     VARCHAR,
    text        VARCHAR NOT NULL
);

CREATE TABLE store.commit_function (
    artifact_id VARCHAR NOT NULL,
    file        INTEGER NOT NULL,
    name        VARCHAR NOT NULL,
    kind        VARCHAR NOT NULL,
    change      VARCHAR NOT NULL,
    old_start   INTEGER,
    old_end     INTEGER,
    new_start   INTEGER,
    new_end     INTEGER
);

-- Words of a lexicon in a text: of commits when they are read, of others by a filter, which also
-- notes texts that have none. Commits that were read have no row for a lexicon they lack.
CREATE TABLE store.keyword_hit (
    artifact_id VARCHAR NOT NULL,
    lexicon     VARCHAR NOT NULL,
    reading     VARCHAR NOT NULL,        -- hash of the lexicon, and what of the text was read
    words       VARCHAR[] NOT NULL,      -- empty where the text has none
    text_run    VARCHAR NOT NULL,        -- the run that wrote the text: one of another is read anew
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (artifact_id, lexicon, reading)
);

CREATE VIEW keyword_hits AS
SELECT artifact_id, lexicon, words, reading, run_id FROM store.keyword_hit WHERE len(words) > 0;

COMMENT ON VIEW keyword_hits IS 'One row for each artifact, lexicon of which the artifact''s text has a word, and way of reading.';
COMMENT ON COLUMN keyword_hits.artifact_id IS 'Whose text it is';
COMMENT ON COLUMN keyword_hits.lexicon IS 'Name of the lexicon';
COMMENT ON COLUMN keyword_hits.words IS 'Entries of the lexicon that the text has, sorted';
COMMENT ON COLUMN keyword_hits.reading IS 'Hash of the lexicon; +code and +quotes where code blocks and quotations were read as well';
COMMENT ON COLUMN keyword_hits.run_id IS 'The run that wrote the row';

CREATE VIEW commits AS
SELECT
    artifact_id, project, sha, parents, len(parents) > 1 AS is_merge, author, author_epoch,
    author_zone, committer, committer_epoch, committer_zone, created_at, message,
    coalesce(keyword_hits, MAP {}) AS keyword_hits, diff,
    coalesce(functions_read, false) AS functions_read, files, added, deleted, encoding,
    nullif(concat_ws('; ', commit.problem, commit_diff.problem), '') AS problem,
    gone_at, gone_reason, commit.run_id, fetched_at
FROM store.commit
LEFT JOIN store.commit_diff USING (artifact_id)
LEFT JOIN (
    SELECT artifact_id, map(list(lexicon ORDER BY lexicon), list(words ORDER BY lexicon)) AS keyword_hits
    FROM (
        -- Without code and quotations, if it was so read; of the newest state of the lexicon.
        SELECT artifact_id, lexicon, arg_max(words, (NOT contains(reading, '+'))::INTEGER || run_id) AS words
        FROM store.keyword_hit GROUP BY ALL
    ) WHERE len(words) > 0 GROUP BY artifact_id
) USING (artifact_id)
LEFT JOIN (
    SELECT artifact_id, count(*) AS files, sum(added)::BIGINT AS added, sum(deleted)::BIGINT AS deleted
    FROM store.commit_file GROUP BY artifact_id
) USING (artifact_id);

COMMENT ON VIEW commits IS 'One row for each commit.';
COMMENT ON COLUMN commits.artifact_id IS 'Such as git:keras-team/keras@<sha>';
COMMENT ON COLUMN commits.project IS 'Such as keras-team/keras; local/<folder> for a repository without a remote';
COMMENT ON COLUMN commits.sha IS 'Hash of the commit';
COMMENT ON COLUMN commits.parents IS 'Hashes of its parents';
COMMENT ON COLUMN commits.is_merge IS 'Whether it has more than one parent; a merge has no files here, its changes are those of the commits that it merges';
COMMENT ON COLUMN commits.author IS 'Pseudonym; the same as in issues where the address is GitHub''s own';
COMMENT ON COLUMN commits.author_epoch IS 'Seconds since 1970 as the commit has them; NULL where they are no number that fits';
COMMENT ON COLUMN commits.author_zone IS 'As the commit has it, such as +0200, however odd';
COMMENT ON COLUMN commits.committer IS 'Pseudonym';
COMMENT ON COLUMN commits.committer_epoch IS 'Seconds since 1970';
COMMENT ON COLUMN commits.committer_zone IS 'As the commit has it';
COMMENT ON COLUMN commits.created_at IS 'author_epoch as a time; NULL outside the years 1 to 9999. UTC';
COMMENT ON COLUMN commits.message IS 'The whole message; what cannot be decoded is replaced';
COMMENT ON COLUMN commits.keyword_hits IS 'Lexicon to the words of it that the message has';
COMMENT ON COLUMN commits.diff IS 'Whether its files were read: NULL for no, read, part (some were unreadable) or unreadable';
COMMENT ON COLUMN commits.functions_read IS 'Whether changed Python functions were looked for';
COMMENT ON COLUMN commits.files IS 'How many files it changes; NULL where they were not read, and of an empty commit';
COMMENT ON COLUMN commits.added IS 'Lines added, without binary files';
COMMENT ON COLUMN commits.deleted IS 'Lines deleted, without binary files';
COMMENT ON COLUMN commits.encoding IS 'How the message was decoded when it is not UTF-8';
COMMENT ON COLUMN commits.problem IS 'What could not be read, and why';
COMMENT ON COLUMN commits.gone_at IS 'When it was first found that no branch leads to it any more. UTC';
COMMENT ON COLUMN commits.gone_reason IS 'unreachable: history was rewritten or a branch was deleted';
COMMENT ON COLUMN commits.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN commits.fetched_at IS 'When it was read. UTC';

CREATE VIEW commit_files AS
SELECT
    artifact_id, project, sha, commit_file.position, path, old_path, change, similarity,
    old_blob, new_blob, old_mode, new_mode, added, deleted, hunks, path_bytes,
    commit_file.problem, commit_diff.run_id
FROM store.commit_file
JOIN store.commit USING (artifact_id)
JOIN store.commit_diff USING (artifact_id);

COMMENT ON VIEW commit_files IS 'One row for each file that a commit changes.';
COMMENT ON COLUMN commit_files.artifact_id IS 'The commit';
COMMENT ON COLUMN commit_files.project IS 'Such as keras-team/keras';
COMMENT ON COLUMN commit_files.sha IS 'Hash of the commit';
COMMENT ON COLUMN commit_files.position IS 'Number of the file in the commit, from 1';
COMMENT ON COLUMN commit_files.path IS 'Path after the commit; of a deleted file the one that it had';
COMMENT ON COLUMN commit_files.old_path IS 'Path before; NULL for an added file';
COMMENT ON COLUMN commit_files.change IS 'added, modified, deleted, renamed, copied, type or submodule';
COMMENT ON COLUMN commit_files.similarity IS 'Of a renamed file, in percent';
COMMENT ON COLUMN commit_files.old_blob IS 'Hash of the content before: miner commits --show-before prints it';
COMMENT ON COLUMN commit_files.new_blob IS 'Hash of the content after';
COMMENT ON COLUMN commit_files.old_mode IS 'Mode before, such as 100644';
COMMENT ON COLUMN commit_files.new_mode IS 'Mode after; 160000 is a submodule';
COMMENT ON COLUMN commit_files.added IS 'Lines added; NULL for a binary file';
COMMENT ON COLUMN commit_files.deleted IS 'Lines deleted; NULL for a binary file';
COMMENT ON COLUMN commit_files.hunks IS 'Number of hunks; NULL for a binary file';
COMMENT ON COLUMN commit_files.path_bytes IS 'Where a name is not UTF-8: old and new path as they are, with NUL between';
COMMENT ON COLUMN commit_files.problem IS 'Why the content could not be read; NULL where it could';
COMMENT ON COLUMN commit_files.run_id IS 'The run that wrote the row';

CREATE VIEW commit_hunks AS
SELECT
    artifact_id, path, file, commit_hunk.position, old_start, old_lines, new_start, new_lines,
    section, text, run_id
FROM store.commit_hunk
JOIN store.commit_file USING (artifact_id)
JOIN store.commit_diff USING (artifact_id)
WHERE commit_file.position = file;

COMMENT ON VIEW commit_hunks IS 'One row for each hunk of a change, with three lines of context.';
COMMENT ON COLUMN commit_hunks.artifact_id IS 'The commit';
COMMENT ON COLUMN commit_hunks.path IS 'Path after the commit';
COMMENT ON COLUMN commit_hunks.file IS 'Number of the file in the commit';
COMMENT ON COLUMN commit_hunks.position IS 'Number of the hunk in the file, from 1';
COMMENT ON COLUMN commit_hunks.old_start IS 'First line before';
COMMENT ON COLUMN commit_hunks.old_lines IS 'Number of lines before';
COMMENT ON COLUMN commit_hunks.new_start IS 'First line after';
COMMENT ON COLUMN commit_hunks.new_lines IS 'Number of lines after';
COMMENT ON COLUMN commit_hunks.section IS 'What git writes behind the line numbers, such as the function';
COMMENT ON COLUMN commit_hunks.text IS 'The lines with their marks; what is not UTF-8 is replaced';
COMMENT ON COLUMN commit_hunks.run_id IS 'The run that wrote the row';

CREATE VIEW commit_functions AS
SELECT
    artifact_id, path, name, kind, commit_function.change, old_start, old_end, new_start, new_end,
    run_id
FROM store.commit_function
JOIN store.commit_file USING (artifact_id)
JOIN store.commit_diff USING (artifact_id)
WHERE commit_file.position = file;

COMMENT ON VIEW commit_functions IS 'One row for each Python function or class that a commit changes.';
COMMENT ON COLUMN commit_functions.artifact_id IS 'The commit';
COMMENT ON COLUMN commit_functions.path IS 'Path after the commit';
COMMENT ON COLUMN commit_functions.name IS 'Qualified in the file, such as Dense.call';
COMMENT ON COLUMN commit_functions.kind IS 'function or class';
COMMENT ON COLUMN commit_functions.change IS 'added, deleted or modified';
COMMENT ON COLUMN commit_functions.old_start IS 'First line before';
COMMENT ON COLUMN commit_functions.old_end IS 'Last line before';
COMMENT ON COLUMN commit_functions.new_start IS 'First line after';
COMMENT ON COLUMN commit_functions.new_end IS 'Last line after';
COMMENT ON COLUMN commit_functions.run_id IS 'The run that wrote the row';

CREATE VIEW git_walks AS
SELECT number, project, place, tips, seen, options, is_complete, run_id, started_at FROM store.git_walk;

COMMENT ON VIEW git_walks IS 'One row for each reading of a git repository.';
COMMENT ON COLUMN git_walks.number IS 'Their order';
COMMENT ON COLUMN git_walks.project IS 'Such as keras-team/keras';
COMMENT ON COLUMN git_walks.place IS 'Address or path that was read';
COMMENT ON COLUMN git_walks.tips IS 'Branches and the commits that they pointed to';
COMMENT ON COLUMN git_walks.seen IS 'Tips of earlier readings; commits that they reach were not read again';
COMMENT ON COLUMN git_walks.options IS 'What was asked for, with the hashes of the lexicons';
COMMENT ON COLUMN git_walks.is_complete IS 'Whether it came to its end; if not, the next one reads it again';
COMMENT ON COLUMN git_walks.run_id IS 'The run that read';
COMMENT ON COLUMN git_walks.started_at IS 'UTC';
