-- Papers. Derived from stored responses and files, like store.issue.
CREATE TABLE store.paper (
    artifact_id      VARCHAR PRIMARY KEY,
    title            VARCHAR NOT NULL,
    year             INTEGER,
    venue            VARCHAR,
    doi              VARCHAR,
    authors          VARCHAR[] NOT NULL,
    abstract         VARCHAR,
    publication_type VARCHAR,
    url              VARCHAR,
    cited_by         INTEGER,
    row_hash         UBIGINT NOT NULL,
    run_id           VARCHAR NOT NULL,
    fetched_at       TIMESTAMP NOT NULL,
    response_id      VARCHAR NOT NULL
);

-- What searches and files gave: several records may be the same paper. A paper is made of its
-- records alone, whatever their order.
CREATE TABLE store.paper_record (
    record_id        VARCHAR PRIMARY KEY,
    artifact_id      VARCHAR NOT NULL,
    own_id           VARCHAR NOT NULL,   -- the id that it would have alone: by DOI, else by title
    source           VARCHAR NOT NULL,   -- openalex, scopus, or the name of a file
    search           VARCHAR NOT NULL,   -- the query; '' for a file
    record_key       VARCHAR NOT NULL,   -- the source's own: W123, 2-s2.0-1, a BibTeX key
    position         INTEGER NOT NULL,   -- order at the source, from 1
    matched_by       VARCHAR,            -- doi, title or preprint where the paper was known already
    title            VARCHAR NOT NULL,
    title_key        VARCHAR NOT NULL,
    year             INTEGER,
    venue            VARCHAR,
    doi              VARCHAR,
    authors          VARCHAR[] NOT NULL,
    abstract         VARCHAR,
    publication_type VARCHAR,
    url              VARCHAR,
    cited_by         INTEGER,
    row_hash         UBIGINT NOT NULL,
    run_id           VARCHAR NOT NULL,
    fetched_at       TIMESTAMP NOT NULL,
    response_id      VARCHAR NOT NULL
);

-- Papers that a search should find: lists by which it is judged. Derived like the rest.
CREATE TABLE store.known_paper (
    list      VARCHAR NOT NULL,
    position  INTEGER NOT NULL,
    title     VARCHAR NOT NULL,
    title_key VARCHAR NOT NULL,
    year      INTEGER,
    doi       VARCHAR,
    run_id    VARCHAR NOT NULL,
    PRIMARY KEY (list, position)
);

-- Which round is which step of screening.
CREATE TABLE store.screening (
    round    VARCHAR PRIMARY KEY,
    step     VARCHAR NOT NULL,           -- title, abstract, full text
    position INTEGER NOT NULL,           -- from 1
    run_id   VARCHAR NOT NULL
);

-- Where a paper says that it uses a technique or targets a fault. Another row supersedes it.
CREATE TABLE store.code_place (
    place_id    VARCHAR PRIMARY KEY,
    artifact_id VARCHAR NOT NULL,
    taxonomy    VARCHAR NOT NULL,
    code        VARCHAR NOT NULL,
    rater       VARCHAR NOT NULL,
    support     VARCHAR NOT NULL,        -- explicit, theme, group, evaluation; withdrawn: it is no more
    place       VARCHAR NOT NULL,        -- section, page, line
    quote       VARCHAR,
    origin      VARCHAR NOT NULL,        -- file and row
    supersedes  VARCHAR,
    run_id      VARCHAR NOT NULL
);

-- Of each paper in a step what its rounds settled: open while one is, or while two contradict. A
-- paper may have got another id since: then it was labelled under an alias.
CREATE VIEW screening_decisions AS
WITH said AS (
    SELECT
        coalesce(a.artifact_id, i.artifact_id) AS artifact_id, i.artifact_id AS labelled_as,
        s.step, s.position, i.round, i.run_id AS planned_by, f.run_id,
        coalesce(f.code, '~') AS code
    FROM store.screening s
    JOIN store.item i USING (round)
    JOIN store.round r USING (round)
    LEFT JOIN store.alias a ON a.alias = i.artifact_id AND a.kind = 'paper'
    LEFT JOIN final_labels f
        ON f.round = i.round AND f.item_id = i.item_id AND f.taxonomy = r.taxonomy
), told AS (
    -- What was excluded as a duplicate, and merged with its other record since, goes with that.
    SELECT * FROM said
    QUALIFY code <> 'duplicate'
        OR min(labelled_as) OVER (PARTITION BY artifact_id, step)
            = max(labelled_as) OVER (PARTITION BY artifact_id, step)
        OR bool_and(code = 'duplicate') OVER (PARTITION BY artifact_id, step)
), decided AS (
    SELECT
        artifact_id, step, position,
        CASE WHEN bool_and(code = 'include') THEN 'included'
            WHEN bool_and(code <> 'include' AND NOT starts_with(code, '~')) THEN 'excluded'
            END AS decision,
        min_by(code, round || chr(0) || code) AS code, list(DISTINCT round ORDER BY round) AS rounds,
        coalesce(max(run_id), max(planned_by)) AS run_id
    FROM told GROUP BY artifact_id, step, position
)
SELECT
    artifact_id, step, position, decision, CASE WHEN decision = 'excluded' THEN code END AS reason,
    rounds, run_id
FROM decided;

COMMENT ON VIEW screening_decisions IS 'One row for each paper in each step of screening that it came to.';
COMMENT ON COLUMN screening_decisions.artifact_id IS 'The paper';
COMMENT ON COLUMN screening_decisions.step IS 'title, abstract or full text';
COMMENT ON COLUMN screening_decisions.position IS 'Order of the steps, from 1';
COMMENT ON COLUMN screening_decisions.decision IS 'included or excluded; NULL while it is open, and while two rounds contradict each other';
COMMENT ON COLUMN screening_decisions.reason IS 'Code of the reason for which it was excluded';
COMMENT ON COLUMN screening_decisions.rounds IS 'The rounds of the step that have it: mostly one';
COMMENT ON COLUMN screening_decisions.run_id IS 'The run that settled it, else the one that planned its round';

CREATE VIEW papers AS
WITH outcome AS (
    SELECT
        artifact_id,
        min_by(step, position) FILTER (decision = 'excluded') AS excluded_at,
        min_by(reason, position) FILTER (decision = 'excluded') AS excluded_for,
        max_by(step, position) FILTER (decision = 'included') AS included_at,
        max(position) FILTER (decision = 'included') AS included_to,
        bool_or(decision IS NULL) AS is_open
    FROM screening_decisions GROUP BY artifact_id
)
SELECT
    paper.artifact_id, title, year, venue, paper.doi, authors, abstract, publication_type, url,
    cited_by,
    CASE WHEN excluded_at IS NOT NULL THEN 'excluded'
        WHEN included_to = (SELECT max(position) FROM store.screening) AND NOT is_open
        THEN 'included' END AS screening_decision,
    coalesce(excluded_at, included_at) AS screening_step,
    excluded_for AS screening_reason,
    (SELECT count(*) FROM store.paper_record r WHERE r.artifact_id = paper.artifact_id)
        AS record_count,
    gone_at, departure.reason AS gone_reason, paper.run_id, fetched_at, paper.response_id
FROM store.paper
LEFT JOIN outcome USING (artifact_id)
LEFT JOIN store.departure USING (artifact_id);

COMMENT ON VIEW papers IS 'One row for each paper.';
COMMENT ON COLUMN papers.artifact_id IS 'Such as doi:10.1145/3377811.3380395; without a DOI paper: and a hash of title and year';
COMMENT ON COLUMN papers.title IS 'As the record gave it that says most of the paper';
COMMENT ON COLUMN papers.year IS 'Of publication';
COMMENT ON COLUMN papers.venue IS 'Journal or proceedings';
COMMENT ON COLUMN papers.doi IS 'Without https://doi.org/';
COMMENT ON COLUMN papers.authors IS 'As they signed the paper: names of a publication are no pseudonyms';
COMMENT ON COLUMN papers.abstract IS 'NULL where no source gave it';
COMMENT ON COLUMN papers.publication_type IS 'Such as article or proceedings-article';
COMMENT ON COLUMN papers.url IS 'Page for a reader';
COMMENT ON COLUMN papers.cited_by IS 'Citations as the source counts them';
COMMENT ON COLUMN papers.screening_decision IS 'excluded at any step, or included by the last step that there is; NULL while it is open';
COMMENT ON COLUMN papers.screening_step IS 'The step that excluded it, else the last that included it';
COMMENT ON COLUMN papers.screening_reason IS 'Code of the reason for which it was excluded';
COMMENT ON COLUMN papers.record_count IS 'How many records of searches and files are this paper';
COMMENT ON COLUMN papers.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN papers.gone_reason IS 'Such as forgotten';
COMMENT ON COLUMN papers.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN papers.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN papers.response_id IS 'The response or file it came from';

CREATE VIEW paper_records AS
SELECT
    record_id, artifact_id, source, search, record_key, position, matched_by, own_id, title,
    title_key, year, doi, run_id, fetched_at, response_id
FROM store.paper_record;

COMMENT ON VIEW paper_records IS 'One row for each record of a paper that a search or a file gave.';
COMMENT ON COLUMN paper_records.record_id IS 'Made of source, search and key';
COMMENT ON COLUMN paper_records.artifact_id IS 'The paper that it is';
COMMENT ON COLUMN paper_records.source IS 'openalex, scopus, or the name of a file';
COMMENT ON COLUMN paper_records.search IS 'The query that gave it; empty for a file';
COMMENT ON COLUMN paper_records.record_key IS 'The source''s own, such as W2741809807 or a BibTeX key';
COMMENT ON COLUMN paper_records.position IS 'Order at the source, from 1';
COMMENT ON COLUMN paper_records.matched_by IS 'doi, title or preprint where another record had given the paper before; NULL for the first';
COMMENT ON COLUMN paper_records.own_id IS 'The id that the record would have alone: by its DOI, else by title and year';
COMMENT ON COLUMN paper_records.title IS 'As this record has it';
COMMENT ON COLUMN paper_records.title_key IS 'The title without case, accents, punctuation and spaces: equal for equal titles';
COMMENT ON COLUMN paper_records.year IS 'As this record has it';
COMMENT ON COLUMN paper_records.doi IS 'As this record has it, without https://doi.org/';
COMMENT ON COLUMN paper_records.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN paper_records.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN paper_records.response_id IS 'The response or file it came from';

CREATE VIEW known_papers AS
SELECT
    list, position, title, year, doi, title_key,
    -- A DOI says more than a title.
    coalesce(
        (SELECT min(artifact_id) FROM store.paper_record r WHERE r.doi = known_paper.doi),
        (SELECT min(artifact_id) FROM store.paper_record r WHERE r.title_key = known_paper.title_key
            AND coalesce(abs(r.year - known_paper.year) <= 1, true))
    ) AS artifact_id,
    run_id
FROM store.known_paper;

COMMENT ON VIEW known_papers IS 'One row for each paper of a list that a search is judged by.';
COMMENT ON COLUMN known_papers.list IS 'Name of the list';
COMMENT ON COLUMN known_papers.position IS 'Order in the list, from 1';
COMMENT ON COLUMN known_papers.title IS 'Title';
COMMENT ON COLUMN known_papers.year IS 'Of publication';
COMMENT ON COLUMN known_papers.doi IS 'Where the list has one';
COMMENT ON COLUMN known_papers.title_key IS 'The title without case, accents, punctuation and spaces';
COMMENT ON COLUMN known_papers.artifact_id IS 'The paper of the study that it is, by DOI, else by title; NULL where none was found';
COMMENT ON COLUMN known_papers.run_id IS 'The run that wrote the row';

COMMENT ON COLUMN artifact_aliases.kind IS 'repository, transfer, node, short_hash, answer or paper';

CREATE VIEW screenings AS SELECT round, step, position, run_id FROM store.screening;

COMMENT ON VIEW screenings IS 'One row for each round in which papers are screened; a step may have several.';
COMMENT ON COLUMN screenings.round IS 'The round in which raters decide';
COMMENT ON COLUMN screenings.step IS 'title, abstract or full text';
COMMENT ON COLUMN screenings.position IS 'Order of the steps, from 1';
COMMENT ON COLUMN screenings.run_id IS 'The run that wrote the row';

CREATE VIEW paper_codes AS
WITH places AS (
    SELECT coalesce(a.artifact_id, c.artifact_id) AS paper, c.* FROM store.code_place c
    LEFT JOIN store.alias a ON a.alias = c.artifact_id AND a.kind = 'paper'
    WHERE place_id NOT IN (SELECT supersedes FROM store.code_place WHERE supersedes IS NOT NULL)
        AND support <> 'withdrawn'
), coded AS (
    -- A code that several rounds gave a paper, or several ids of it, is one code.
    SELECT
        coalesce(a.artifact_id, f.artifact_id) AS paper, f.taxonomy, f.taxonomy_version, f.code,
        min(f.round) AS round, min_by(f.settled_by, f.round || chr(0) || f.settled_by) AS settled_by,
        min_by(f.run_id, f.round || chr(0) || f.run_id) AS run_id
    FROM final_labels f
    LEFT JOIN store.alias a ON a.alias = f.artifact_id AND a.kind = 'paper'
    WHERE f.round NOT IN (SELECT round FROM store.screening) AND NOT starts_with(f.code, '~')
    GROUP BY ALL
)
SELECT
    f.paper AS artifact_id, f.taxonomy, f.taxonomy_version, f.code, p.support, p.place, p.quote,
    p.rater, f.round, f.settled_by, coalesce(p.run_id, f.run_id) AS run_id
FROM coded f
SEMI JOIN store.paper ON paper.artifact_id = f.paper
LEFT JOIN places p ON p.paper = f.paper AND p.taxonomy = f.taxonomy AND p.code = f.code;

COMMENT ON VIEW paper_codes IS 'One row for each code of each paper, and each place where the paper says so.';
COMMENT ON COLUMN paper_codes.artifact_id IS 'The paper';
COMMENT ON COLUMN paper_codes.taxonomy IS 'Of techniques or of faults';
COMMENT ON COLUMN paper_codes.taxonomy_version IS 'Version of the taxonomy';
COMMENT ON COLUMN paper_codes.code IS 'The technique that it uses or the fault that it targets';
COMMENT ON COLUMN paper_codes.support IS 'explicit, theme, group or evaluation; NULL where no place is known';
COMMENT ON COLUMN paper_codes.place IS 'Section, page or line';
COMMENT ON COLUMN paper_codes.quote IS 'The words of the paper';
COMMENT ON COLUMN paper_codes.rater IS 'Who found the place';
COMMENT ON COLUMN paper_codes.round IS 'The round in which the paper got the code; of several the first by name';
COMMENT ON COLUMN paper_codes.settled_by IS 'How the code became final';
COMMENT ON COLUMN paper_codes.run_id IS 'The run that wrote the place, else the code';

-- Each paper has one fate, so that whatever is counted by them adds up.
CREATE VIEW paper_fates AS
WITH steps AS (
    SELECT DISTINCT step, position FROM funnel WHERE kind = 'paper' AND position > 0
), failed AS (
    SELECT p.artifact_id, min(s.position) AS position, min_by(s.step, s.position) AS step
    FROM papers p CROSS JOIN steps s
    WHERE (s.step, p.artifact_id) NOT IN (SELECT (step, artifact_id) FROM selected)
    GROUP BY p.artifact_id
), decided AS (
    SELECT
        artifact_id,
        min(position) FILTER (decision = 'excluded') AS excluded_at,
        min_by(reason, position) FILTER (decision = 'excluded') AS reason,
        min(position) FILTER (decision IS NULL) AS open_at,
        max(position) FILTER (decision = 'included') AS included_to,
        max(run_id) AS run_id
    FROM screening_decisions GROUP BY artifact_id
), placed AS (
    SELECT
        p.artifact_id, coalesce(d.run_id, p.run_id) AS run_id,
        d.artifact_id IS NOT NULL AS is_screened, d.reason, f.step AS funnel_step,
        CASE
            WHEN d.excluded_at IS NOT NULL THEN 'excluded'
            WHEN d.open_at IS NOT NULL THEN 'undecided'
            WHEN d.included_to = (SELECT max(position) FROM store.screening) THEN 'included'
            WHEN d.artifact_id IS NOT NULL THEN 'waiting'
            WHEN p.gone_at IS NOT NULL THEN 'gone'
            WHEN f.artifact_id IS NOT NULL
                AND p.artifact_id NOT IN (SELECT artifact_id FROM selected WHERE position = 0)
            THEN 'late'
            WHEN f.artifact_id IS NOT NULL THEN 'removed'
            WHEN EXISTS (FROM store.screening) THEN 'waiting'
            ELSE 'included'
        END AS fate,
        coalesce(d.excluded_at, d.open_at, d.included_to, 0) AS position
    FROM papers p
    LEFT JOIN decided d USING (artifact_id)
    LEFT JOIN failed f USING (artifact_id)
)
SELECT
    artifact_id, fate,
    CASE WHEN fate IN ('excluded', 'undecided') THEN position
        WHEN fate = 'waiting'
        THEN (SELECT min(n.position) FROM store.screening n WHERE n.position > placed.position)
        END AS position,
    CASE WHEN fate = 'excluded' THEN reason WHEN fate = 'removed' THEN funnel_step END AS reason,
    is_screened, funnel_step, run_id
FROM placed;

COMMENT ON VIEW paper_fates IS 'One row for each paper: where it left on the way from a search to the study, or is open.';
COMMENT ON COLUMN paper_fates.artifact_id IS 'The paper';
COMMENT ON COLUMN paper_fates.fate IS 'Before screening: removed (by the funnel), late (mined after the funnel ran), gone (from its source). In a step: excluded, undecided, waiting (in no round of it yet). Or included';
COMMENT ON COLUMN paper_fates.position IS 'Of the step of screening, from 1; NULL before screening and for included ones';
COMMENT ON COLUMN paper_fates.reason IS 'Code of the reason of an excluded paper; step of the funnel that removed it';
COMMENT ON COLUMN paper_fates.is_screened IS 'Whether it is in a round of screening';
COMMENT ON COLUMN paper_fates.funnel_step IS 'The first step of the funnel that does not let it through (any more), if any';
COMMENT ON COLUMN paper_fates.run_id IS 'The run that decided on it last, else the one that wrote the paper';

-- Papers join the other artifacts.
CREATE OR REPLACE VIEW artifacts AS
SELECT
    issue.artifact_id, CASE WHEN is_pull THEN 'pull' ELSE 'issue' END AS kind, source, project,
    title, body, author, created_at, url, gone_at, reason AS gone_reason,
    issue.run_id, issue.fetched_at, issue.response_id
FROM store.issue LEFT JOIN store.departure USING (artifact_id)
UNION ALL
SELECT
    artifact_id, 'commit', 'git', project, split_part(message, chr(10), 1), message, author,
    created_at,
    CASE WHEN starts_with(project, 'local/') THEN NULL
        WHEN regexp_matches(project, '^[^/]*[.:][^/]*/') THEN 'https://' || project || '/commit/' || sha
        ELSE 'https://github.com/' || project || '/commit/' || sha END,
    gone_at, gone_reason, run_id, fetched_at, NULL
FROM store.commit
UNION ALL
SELECT
    artifact_id, 'post', 'stackoverflow', site, title, body, author, created_at, url, gone_at, reason,
    post.run_id, fetched_at, post.response_id
FROM store.post LEFT JOIN store.departure USING (artifact_id)
UNION ALL
SELECT
    artifact_id, 'paper', 'paper', venue, title, abstract, NULL, NULL,
    coalesce(paper.url, 'https://doi.org/' || doi), gone_at, reason, paper.run_id, fetched_at,
    paper.response_id
FROM store.paper LEFT JOIN store.departure USING (artifact_id)
UNION ALL
SELECT
    artifact_id, NULL, regexp_extract(artifact_id, '^[a-z]+'),
    nullif(regexp_extract(artifact_id, '^[a-z]+:([^#@]+)[#@]', 1), ''),
    NULL, NULL, NULL, NULL, NULL, gone_at, reason, run_id, gone_at, response_id
FROM store.departure
WHERE artifact_id NOT IN (SELECT artifact_id FROM store.issue)
    AND artifact_id NOT IN (SELECT artifact_id FROM store.post)
    AND artifact_id NOT IN (SELECT artifact_id FROM store.paper)
UNION ALL
SELECT
    subject, NULL, regexp_extract(subject, '^[a-z]+'),
    nullif(regexp_extract(subject, '^[a-z]+:([^#@]+)[#@]', 1), ''),
    NULL, NULL, NULL, NULL, NULL, forgotten_at, 'forgotten', run_id, forgotten_at, NULL
FROM store.forgotten WHERE kind = 'artifact';

COMMENT ON VIEW artifacts IS 'One row for anything that can be labelled.';
COMMENT ON COLUMN artifacts.artifact_id IS 'Such as github:pytorch/pytorch#123';
COMMENT ON COLUMN artifacts.kind IS 'issue, pull, commit, post or paper; NULL where the source never showed it';
COMMENT ON COLUMN artifacts.source IS 'github, gitee, git, stackoverflow or paper';
COMMENT ON COLUMN artifacts.project IS 'Such as pytorch/pytorch; the host comes first when it is not the public one. Of a post the site, of a paper the venue';
COMMENT ON COLUMN artifacts.title IS 'As the source gave it; of a commit the first line of its message';
COMMENT ON COLUMN artifacts.body IS 'As the source gave it: Markdown of an issue, the whole message of a commit, HTML of a post, the abstract of a paper';
COMMENT ON COLUMN artifacts.author IS 'Pseudonym; NULL for a paper, whose authors are in papers';
COMMENT ON COLUMN artifacts.created_at IS 'UTC; NULL for a paper, whose year is in papers';
COMMENT ON COLUMN artifacts.url IS 'Page for a reader';
COMMENT ON COLUMN artifacts.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN artifacts.gone_reason IS 'deleted, not found, transferred, blocked, unreachable or forgotten';
COMMENT ON COLUMN artifacts.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN artifacts.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN artifacts.response_id IS 'The response it came from; NULL for a commit, which git_walks lead to';

CREATE OR REPLACE VIEW candidates AS
SELECT
    a.artifact_id, a.kind, a.source, a.project, a.title, a.body, a.author, a.created_at, a.url,
    i.number, i.state, i.state_reason, i.tracker_labels, i.tracker_type, i.tracker_priority,
    i.milestone, i.comment_count, i.reaction_count, i.author_association, i.closed_at, i.merged_at,
    p.tags, p.score, p.view_count, p.answer_count, p.accepted_answer_id,
    c.sha, c.parents, c.is_merge, c.keyword_hits, c.files, c.added, c.deleted, r.year, r.venue, r.doi,
    r.publication_type, r.cited_by, a.run_id
FROM artifacts a
LEFT JOIN issues i USING (artifact_id)
LEFT JOIN posts p USING (artifact_id)
LEFT JOIN commits c USING (artifact_id)
LEFT JOIN store.paper r USING (artifact_id)
WHERE a.gone_at IS NULL AND a.kind IS NOT NULL;

COMMENT ON VIEW candidates IS 'One row for each artifact that is there, with what conditions of the funnel may ask about.';
COMMENT ON COLUMN candidates.artifact_id IS 'Such as github:pytorch/pytorch#123';
COMMENT ON COLUMN candidates.kind IS 'issue, pull, commit, post or paper';
COMMENT ON COLUMN candidates.source IS 'github, gitee, git, stackoverflow or paper';
COMMENT ON COLUMN candidates.project IS 'Such as pytorch/pytorch; of a post the site, of a paper the venue';
COMMENT ON COLUMN candidates.title IS 'As in artifacts';
COMMENT ON COLUMN candidates.body IS 'As in artifacts';
COMMENT ON COLUMN candidates.author IS 'Pseudonym';
COMMENT ON COLUMN candidates.created_at IS 'UTC';
COMMENT ON COLUMN candidates.url IS 'Page for a reader';
COMMENT ON COLUMN candidates.number IS 'Of an issue';
COMMENT ON COLUMN candidates.state IS 'Of an issue';
COMMENT ON COLUMN candidates.state_reason IS 'Of an issue';
COMMENT ON COLUMN candidates.tracker_labels IS 'Of an issue';
COMMENT ON COLUMN candidates.tracker_type IS 'Of an issue';
COMMENT ON COLUMN candidates.tracker_priority IS 'Of an issue';
COMMENT ON COLUMN candidates.milestone IS 'Of an issue';
COMMENT ON COLUMN candidates.comment_count IS 'Of an issue';
COMMENT ON COLUMN candidates.reaction_count IS 'Of an issue';
COMMENT ON COLUMN candidates.author_association IS 'Of an issue';
COMMENT ON COLUMN candidates.closed_at IS 'Of an issue. UTC';
COMMENT ON COLUMN candidates.merged_at IS 'Of a pull request. UTC';
COMMENT ON COLUMN candidates.tags IS 'Of a post';
COMMENT ON COLUMN candidates.score IS 'Of a post';
COMMENT ON COLUMN candidates.view_count IS 'Of a post';
COMMENT ON COLUMN candidates.answer_count IS 'Of a post';
COMMENT ON COLUMN candidates.accepted_answer_id IS 'Of a post';
COMMENT ON COLUMN candidates.sha IS 'Of a commit';
COMMENT ON COLUMN candidates.parents IS 'Of a commit';
COMMENT ON COLUMN candidates.is_merge IS 'Of a commit';
COMMENT ON COLUMN candidates.keyword_hits IS 'Of a commit';
COMMENT ON COLUMN candidates.files IS 'Of a commit';
COMMENT ON COLUMN candidates.added IS 'Of a commit';
COMMENT ON COLUMN candidates.deleted IS 'Of a commit';
COMMENT ON COLUMN candidates.year IS 'Of a paper';
COMMENT ON COLUMN candidates.venue IS 'Of a paper';
COMMENT ON COLUMN candidates.doi IS 'Of a paper';
COMMENT ON COLUMN candidates.publication_type IS 'Of a paper';
COMMENT ON COLUMN candidates.cited_by IS 'Of a paper';
COMMENT ON COLUMN candidates.run_id IS 'The run that wrote the artifact';
