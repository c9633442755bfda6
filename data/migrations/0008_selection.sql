-- Commits and posts join issues in `artifacts`, answers join comments in `comments`.
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
    artifact_id, NULL, regexp_extract(artifact_id, '^[a-z]+'),
    nullif(regexp_extract(artifact_id, '^[a-z]+:([^#@]+)[#@]', 1), ''),
    NULL, NULL, NULL, NULL, NULL, gone_at, reason, run_id, gone_at, response_id
FROM store.departure
WHERE artifact_id NOT IN (SELECT artifact_id FROM store.issue)
    AND artifact_id NOT IN (SELECT artifact_id FROM store.post)
UNION ALL
SELECT
    subject, NULL, regexp_extract(subject, '^[a-z]+'),
    nullif(regexp_extract(subject, '^[a-z]+:([^#@]+)[#@]', 1), ''),
    NULL, NULL, NULL, NULL, NULL, forgotten_at, 'forgotten', run_id, forgotten_at, NULL
FROM store.forgotten WHERE kind = 'artifact';

COMMENT ON VIEW artifacts IS 'One row for anything that can be labelled.';
COMMENT ON COLUMN artifacts.artifact_id IS 'Such as github:pytorch/pytorch#123';
COMMENT ON COLUMN artifacts.kind IS 'issue, pull, commit or post; NULL where the source never showed it';
COMMENT ON COLUMN artifacts.source IS 'github, gitee, git or stackoverflow';
COMMENT ON COLUMN artifacts.project IS 'Such as pytorch/pytorch; the host comes first when it is not the public one. Of a post the site';
COMMENT ON COLUMN artifacts.title IS 'As the source gave it; of a commit the first line of its message';
COMMENT ON COLUMN artifacts.body IS 'As the source gave it: Markdown of an issue, the whole message of a commit, HTML of a post';
COMMENT ON COLUMN artifacts.author IS 'Pseudonym';
COMMENT ON COLUMN artifacts.created_at IS 'UTC';
COMMENT ON COLUMN artifacts.url IS 'Page for a reader';
COMMENT ON COLUMN artifacts.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN artifacts.gone_reason IS 'deleted, not found, transferred, blocked, unreachable or forgotten';
COMMENT ON COLUMN artifacts.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN artifacts.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN artifacts.response_id IS 'The response it came from; NULL for a commit, which git_walks lead to';

CREATE OR REPLACE VIEW comments AS
SELECT
    comment_id, artifact_id, author, author_association, created_at, updated_at, body,
    false AS is_answer, false AS is_accepted, NULL::INTEGER AS score, url, gone_at, run_id,
    fetched_at, response_id
FROM store.comment
UNION ALL
SELECT
    comment_id, reply.artifact_id, reply.author, NULL, reply.created_at, reply.updated_at,
    reply.body, is_answer,
    is_answer AND coalesce(reply.post_id = accepted_answer_id, false), reply.score,
    reply.url, gone_at, reply.run_id, reply.fetched_at, reply.response_id
FROM store.reply LEFT JOIN store.post USING (artifact_id);

COMMENT ON VIEW comments IS 'One row for each comment or answer.';
COMMENT ON COLUMN comments.comment_id IS 'Such as github:comment/123 or stackoverflow:a/123';
COMMENT ON COLUMN comments.artifact_id IS 'What it is a comment on or an answer to';
COMMENT ON COLUMN comments.author IS 'Pseudonym';
COMMENT ON COLUMN comments.author_association IS 'The author''s relation to the project, such as MEMBER';
COMMENT ON COLUMN comments.created_at IS 'UTC';
COMMENT ON COLUMN comments.updated_at IS 'UTC';
COMMENT ON COLUMN comments.body IS 'As the source gave it: Markdown of a comment, HTML of an answer';
COMMENT ON COLUMN comments.is_answer IS 'Whether it is an answer to a question';
COMMENT ON COLUMN comments.is_accepted IS 'Whether it is the accepted answer';
COMMENT ON COLUMN comments.score IS 'Votes for it minus votes against, on a post';
COMMENT ON COLUMN comments.url IS 'Page for a reader';
COMMENT ON COLUMN comments.gone_at IS 'When it was first found to be gone; NULL while it is there. UTC';
COMMENT ON COLUMN comments.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN comments.fetched_at IS 'When the source said so. UTC';
COMMENT ON COLUMN comments.response_id IS 'The response it came from';

-- An answer is another name of its question.
CREATE OR REPLACE VIEW artifact_aliases AS
SELECT alias, artifact_id, kind, run_id, response_id FROM store.alias
UNION ALL
SELECT comment_id, artifact_id, 'answer', run_id, response_id FROM store.reply WHERE is_answer;

COMMENT ON VIEW artifact_aliases IS 'One row for another name of an artifact.';
COMMENT ON COLUMN artifact_aliases.alias IS 'The other name';
COMMENT ON COLUMN artifact_aliases.artifact_id IS 'What it names; for an old repository name the new one';
COMMENT ON COLUMN artifact_aliases.kind IS 'repository, transfer, node, short_hash or answer';
COMMENT ON COLUMN artifact_aliases.run_id IS 'The run that wrote the row';
COMMENT ON COLUMN artifact_aliases.response_id IS 'The response it came from';

-- Everything that a condition of the funnel may ask about, in one row.
CREATE VIEW candidates AS
SELECT
    a.artifact_id, a.kind, a.source, a.project, a.title, a.body, a.author, a.created_at, a.url,
    i.number, i.state, i.state_reason, i.tracker_labels, i.tracker_type, i.tracker_priority,
    i.milestone, i.comment_count, i.reaction_count, i.author_association, i.closed_at, i.merged_at,
    p.tags, p.score, p.view_count, p.answer_count, p.accepted_answer_id,
    c.sha, c.parents, c.is_merge, c.keyword_hits, c.files, c.added, c.deleted, a.run_id
FROM artifacts a
LEFT JOIN issues i USING (artifact_id)
LEFT JOIN posts p USING (artifact_id)
LEFT JOIN commits c USING (artifact_id)
WHERE a.gone_at IS NULL AND a.kind IS NOT NULL;

COMMENT ON VIEW candidates IS 'One row for each artifact that is there, with what conditions of the funnel may ask about.';
COMMENT ON COLUMN candidates.artifact_id IS 'Such as github:pytorch/pytorch#123';
COMMENT ON COLUMN candidates.kind IS 'issue, pull, commit or post';
COMMENT ON COLUMN candidates.source IS 'github, gitee, git or stackoverflow';
COMMENT ON COLUMN candidates.project IS 'Such as pytorch/pytorch; of a post the site';
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
COMMENT ON COLUMN candidates.run_id IS 'The run that wrote the artifact';

-- The funnel: steps in their order, what each let through, and the counts.
CREATE TABLE store.funnel_step (
    step       VARCHAR PRIMARY KEY,
    position   INTEGER NOT NULL,
    predicate  VARCHAR NOT NULL,         -- for a reader
    definition JSON NOT NULL,            -- for running it again
    run_id     VARCHAR NOT NULL,
    ran_at     TIMESTAMP NOT NULL
);

CREATE TABLE store.funnel_count (
    step         VARCHAR NOT NULL,
    source       VARCHAR NOT NULL,
    kind         VARCHAR NOT NULL,
    rows_in      BIGINT NOT NULL,
    rows_out     BIGINT NOT NULL,
    rows_unknown BIGINT NOT NULL,
    PRIMARY KEY (step, source, kind)
);

CREATE TABLE store.funnel_member (
    step        VARCHAR NOT NULL,
    artifact_id VARCHAR NOT NULL
);

CREATE VIEW funnel AS
SELECT step, position, source, kind, predicate, rows_in, rows_out, rows_unknown, ran_at, run_id
FROM store.funnel_step JOIN store.funnel_count USING (step);

COMMENT ON VIEW funnel IS 'One row for each step of selection, source and kind of artifact.';
COMMENT ON COLUMN funnel.step IS 'Name of the step';
COMMENT ON COLUMN funnel.position IS 'Its place; 0 is everything that was mined';
COMMENT ON COLUMN funnel.source IS 'github, gitee, git or stackoverflow';
COMMENT ON COLUMN funnel.kind IS 'issue, pull, commit or post';
COMMENT ON COLUMN funnel.predicate IS 'What it asks for';
COMMENT ON COLUMN funnel.rows_in IS 'Artifacts that came to it: what the step before let through';
COMMENT ON COLUMN funnel.rows_out IS 'Artifacts that it let through';
COMMENT ON COLUMN funnel.rows_unknown IS 'Of those that it did not: how many its condition says nothing about, as it is NULL for them';
COMMENT ON COLUMN funnel.ran_at IS 'When it was last computed with another result. UTC';
COMMENT ON COLUMN funnel.run_id IS 'The run that computed it';

CREATE VIEW selected AS
SELECT step, position, artifact_id, run_id
FROM store.funnel_member JOIN store.funnel_step USING (step);

COMMENT ON VIEW selected IS 'One row for each artifact that a step of the funnel let through.';
COMMENT ON COLUMN selected.step IS 'Name of the step';
COMMENT ON COLUMN selected.position IS 'Its place; the last one holds the study''s population';
COMMENT ON COLUMN selected.artifact_id IS 'What it let through';
COMMENT ON COLUMN selected.run_id IS 'The run that computed the step';

CREATE TABLE store.link (
    from_id     VARCHAR NOT NULL,
    to_id       VARCHAR NOT NULL,
    kind        VARCHAR NOT NULL,
    evidence    VARCHAR NOT NULL,
    found_in    VARCHAR NOT NULL,
    score       DOUBLE,
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (from_id, to_id, kind, found_in)
);

-- What texts refer to, as they name it; links are made of these, of aliases and of timelines.
CREATE TABLE store.reference (
    text_id  VARCHAR NOT NULL,
    position INTEGER NOT NULL,           -- their order in the text
    from_id  VARCHAR NOT NULL,
    named    VARCHAR NOT NULL,           -- an id, perhaps an old one, or that of an answer
    kind     VARCHAR NOT NULL,
    evidence VARCHAR NOT NULL,
    found_in VARCHAR NOT NULL
);

-- Which state of a text its references were looked for in.
CREATE TABLE store.link_read (
    text_id VARCHAR PRIMARY KEY,         -- an artifact, a comment, a response, or all of a kind
    digest  UBIGINT NOT NULL,
    run_id  VARCHAR NOT NULL
);

CREATE VIEW links AS
SELECT from_id, to_id, kind, evidence, found_in, score, run_id FROM store.link;

COMMENT ON VIEW links IS 'One row for each place that says that two artifacts belong together.';
COMMENT ON COLUMN links.from_id IS 'The artifact that refers';
COMMENT ON COLUMN links.to_id IS 'What it refers to; it need not be in the study';
COMMENT ON COLUMN links.kind IS 'fixes, mentions, picks (a commit that was picked), reverts, part of (the pull request of a commit) or duplicate';
COMMENT ON COLUMN links.evidence IS 'The words that say so, such as Fixes #12; for duplicates how much of the texts is the same';
COMMENT ON COLUMN links.found_in IS 'Where they stand: title, body, message, a comment''s id, timeline, tracker (an answer about commits), via another artifact; text or hash for duplicates that were computed';
COMMENT ON COLUMN links.score IS 'For duplicates: how much of the two texts is the same, from 0 to 1; 1 for what the source says itself';
COMMENT ON COLUMN links.run_id IS 'The run that wrote the row';
