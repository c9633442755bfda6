-- Repositories that searches found. The first two tables are derived from `store.response`.
CREATE TABLE store.repository (
    repository_id  VARCHAR PRIMARY KEY,  -- the source's own number: a new name does not change it
    source         VARCHAR NOT NULL,
    project        VARCHAR NOT NULL,
    url            VARCHAR,
    description    VARCHAR,
    language       VARCHAR,
    stars          INTEGER,
    forks          INTEGER,
    open_issues    INTEGER,
    topics         VARCHAR[] NOT NULL,
    license        VARCHAR,
    is_fork        BOOLEAN,
    is_archived    BOOLEAN,
    is_disabled    BOOLEAN,
    size_kb        INTEGER,
    default_branch VARCHAR,
    created_at     TIMESTAMP,
    pushed_at      TIMESTAMP,
    updated_at     TIMESTAMP,
    row_hash       UBIGINT NOT NULL,
    run_id         VARCHAR NOT NULL,
    fetched_at     TIMESTAMP NOT NULL,
    response_id    VARCHAR NOT NULL
);

CREATE TABLE store.search_result (
    search        VARCHAR NOT NULL,
    repository_id VARCHAR NOT NULL,
    project       VARCHAR NOT NULL,
    left_out      VARCHAR,               -- fork, disabled or archived; NULL for what is kept
    turn          INTEGER NOT NULL,      -- the last one in which it was found
    slice         INTEGER NOT NULL,      -- of that turn
    first_seen_at TIMESTAMP NOT NULL,
    last_seen_at  TIMESTAMP NOT NULL,
    run_id        VARCHAR NOT NULL,
    response_id   VARCHAR NOT NULL,
    PRIMARY KEY (search, repository_id)
);

-- What was asked for and where to go on. Written in the same transaction as the page before it.
CREATE TABLE store.search_slice (
    search        VARCHAR NOT NULL,
    turn          INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    query         VARCHAR NOT NULL,
    created_from  TIMESTAMP NOT NULL,
    created_to    TIMESTAMP,             -- NULL until the first answer says what time it is
    state         VARCHAR NOT NULL,
    total_count   INTEGER,
    found_count   INTEGER,
    pages         INTEGER NOT NULL,
    reads         INTEGER NOT NULL,      -- how often it was read to its end and was short
    is_incomplete BOOLEAN NOT NULL,
    next_url      VARCHAR,
    counted       INTEGER,               -- results from counted_from to created_to, when they
    counted_from  TIMESTAMP,             -- were counted together with what stands before
    run_id        VARCHAR NOT NULL,
    updated_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (search, turn, number)
);

CREATE VIEW repositories AS
SELECT
    project, source, url, description, language, topics, license, stars, forks, open_issues,
    size_kb, default_branch, is_fork, is_archived, is_disabled, created_at, pushed_at, updated_at,
    repository_id, run_id, fetched_at, response_id
FROM store.repository;

COMMENT ON VIEW repositories IS 'One row for each repository that a search found and kept.';
COMMENT ON COLUMN repositories.project IS 'Such as pytorch/pytorch; the owner may be a person, whose login is part of the name';
COMMENT ON COLUMN repositories.source IS 'github';
COMMENT ON COLUMN repositories.url IS 'Page for a reader';
COMMENT ON COLUMN repositories.description IS 'As the owner wrote it';
COMMENT ON COLUMN repositories.language IS 'The language that most of it is in, as the source finds';
COMMENT ON COLUMN repositories.topics IS 'Topics that the owner chose; sorted';
COMMENT ON COLUMN repositories.license IS 'SPDX id; NOASSERTION where the source cannot tell';
COMMENT ON COLUMN repositories.stars IS 'When it was fetched';
COMMENT ON COLUMN repositories.forks IS 'When it was fetched';
COMMENT ON COLUMN repositories.open_issues IS 'Open issues and pull requests when it was fetched';
COMMENT ON COLUMN repositories.size_kb IS 'Size of the git repository in kilobytes, as the source counts';
COMMENT ON COLUMN repositories.default_branch IS 'Such as main';
COMMENT ON COLUMN repositories.is_fork IS 'Whether it was made as a copy of another repository';
COMMENT ON COLUMN repositories.is_archived IS 'Whether its owner made it read-only';
COMMENT ON COLUMN repositories.is_disabled IS 'Whether the source has switched it off';
COMMENT ON COLUMN repositories.created_at IS 'UTC';
COMMENT ON COLUMN repositories.pushed_at IS 'Last push to any branch. UTC';
COMMENT ON COLUMN repositories.updated_at IS 'Last change of what the source says about it. UTC';
COMMENT ON COLUMN repositories.repository_id IS 'Such as github:repository/123, which a new name does not change';
COMMENT ON COLUMN repositories.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN repositories.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN repositories.response_id IS 'The response it came from';

CREATE VIEW search_results AS
SELECT
    search, project, coalesce(search_result.turn >= finished.turn, true) AS is_listed,
    first_seen_at, last_seen_at, repository_id, run_id, response_id
FROM store.search_result LEFT JOIN (
    SELECT search, max(turn) AS turn FROM (
        SELECT search, turn FROM store.search_slice
        GROUP BY search, turn HAVING bool_and(state NOT IN ('waiting', 'reading'))
    ) GROUP BY search
) AS finished USING (search)
WHERE left_out IS NULL;

COMMENT ON VIEW search_results IS 'One row for each search and repository that it found and kept.';
COMMENT ON COLUMN search_results.search IS 'The search: query and options as given';
COMMENT ON COLUMN search_results.project IS 'The repository, as in repositories';
COMMENT ON COLUMN search_results.is_listed IS 'Whether the search still found it when it was last made to its end';
COMMENT ON COLUMN search_results.first_seen_at IS 'UTC';
COMMENT ON COLUMN search_results.last_seen_at IS 'UTC';
COMMENT ON COLUMN search_results.repository_id IS 'As in repositories';
COMMENT ON COLUMN search_results.run_id IS 'The run that saw it last';
COMMENT ON COLUMN search_results.response_id IS 'The response that it was last seen in';

CREATE VIEW search_slices AS
SELECT
    search, turn, number, query, created_from, created_to, state, total_count, found_count,
    CASE WHEN state <> 'split' THEN greatest(total_count - found_count, 0) END AS missing_count,
    pages, is_incomplete, state NOT IN ('waiting', 'reading') AS is_done, run_id, updated_at
FROM store.search_slice;

COMMENT ON VIEW search_slices IS 'One row for each range of creation times that a search was asked in, because the source gives 1,000 results at most.';
COMMENT ON COLUMN search_slices.search IS 'The search: query and options as given';
COMMENT ON COLUMN search_slices.turn IS 'The how manyth time the search was made';
COMMENT ON COLUMN search_slices.number IS 'Number within the turn; the first ones are the whole range';
COMMENT ON COLUMN search_slices.query IS 'What the source was asked for, without the range';
COMMENT ON COLUMN search_slices.created_from IS 'First second of the range. UTC';
COMMENT ON COLUMN search_slices.created_to IS 'Last second of the range. UTC';
COMMENT ON COLUMN search_slices.state IS 'waiting, reading, split (too many results: asked again in parts), complete, short (fewer rows than counted, twice), incomplete (the source did not finish searching) or truncated (too many results in one second)';
COMMENT ON COLUMN search_slices.total_count IS 'Results that the source counted';
COMMENT ON COLUMN search_slices.found_count IS 'Different repositories that it gave, with those that were left out';
COMMENT ON COLUMN search_slices.missing_count IS 'Counted and not given';
COMMENT ON COLUMN search_slices.pages IS 'Pages that were read';
COMMENT ON COLUMN search_slices.is_incomplete IS 'Whether the source said incomplete_results to the end';
COMMENT ON COLUMN search_slices.is_done IS 'Whether nothing is left to ask';
COMMENT ON COLUMN search_slices.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN search_slices.updated_at IS 'UTC';
