-- Bugs that can be run, as their bug.toml says. Their files lie in the study's folder `bugs`; one
-- that was imported again with changes replaces its row, and what was judged keeps its content.
CREATE TABLE store.bug (
    bug_id          VARCHAR PRIMARY KEY, -- <set>/<name>
    set_name        VARCHAR NOT NULL,
    artifact_id     VARCHAR,             -- what the address names; NULL where it is no artifact
    url             VARCHAR NOT NULL,
    title           VARCHAR NOT NULL,
    source          VARCHAR NOT NULL,    -- github, stackoverflow, own, ...
    symptom         VARCHAR NOT NULL,    -- labels: '' where nobody says
    fault           VARCHAR NOT NULL,
    taxonomy        VARCHAR NOT NULL,    -- of the fault
    property        VARCHAR NOT NULL,
    framework       VARCHAR NOT NULL,
    about_gpu       BOOLEAN NOT NULL,
    python          VARCHAR NOT NULL,
    requirements    JSON NOT NULL,       -- a list
    guessed         VARCHAR[] NOT NULL,  -- which of it nobody declared
    sides           VARCHAR[] NOT NULL,  -- those that can be run
    fidelity        VARCHAR[] NOT NULL,
    oracle_symptom  VARCHAR NOT NULL,    -- what ours looks for
    oracle          JSON NOT NULL,       -- ours
    oracle_hash     VARCHAR NOT NULL,
    own_oracle      JSON NOT NULL,       -- what the artifact brought: shown beside, never used
    claimed_verdict VARCHAR NOT NULL,    -- the same
    claimed_reason  VARCHAR NOT NULL,
    content         VARCHAR NOT NULL,    -- hash of all that decides what is run
    row_hash        UBIGINT NOT NULL,
    registered_at   TIMESTAMP NOT NULL,
    run_id          VARCHAR NOT NULL
);

-- One row for each time that a sample of bugs was drawn; the last draw of a name is the sample.
CREATE TABLE store.bug_draw (
    sample      VARCHAR NOT NULL,
    draw        INTEGER NOT NULL,        -- 1, 2, ...
    sets        VARCHAR[] NOT NULL,      -- the frame: the bugs of these
    strata      VARCHAR[] NOT NULL,      -- columns of `bugs`
    seed        BIGINT NOT NULL,
    asked       INTEGER NOT NULL,
    size        INTEGER NOT NULL,        -- no more than there are
    frame_count INTEGER NOT NULL,
    frame_hash  VARCHAR NOT NULL,
    size_rule   VARCHAR NOT NULL,
    drawn_at    TIMESTAMP NOT NULL,
    run_id      VARCHAR NOT NULL,
    PRIMARY KEY (sample, draw)
);

-- The whole frame of a draw, also what was not drawn.
CREATE TABLE store.bug_sample (
    sample   VARCHAR NOT NULL,
    draw     INTEGER NOT NULL,
    bug_id   VARCHAR NOT NULL,
    stratum  VARCHAR NOT NULL,
    position INTEGER,                    -- 1, 2, ... of those that were drawn; else NULL
    run_id   VARCHAR NOT NULL,
    PRIMARY KEY (sample, draw, bug_id)
);

-- One run of one side, as its result file says. Nothing is ever changed here.
CREATE TABLE store.execution (
    execution_id     VARCHAR PRIMARY KEY, -- hash of the record: the same run is stored once
    bug_id           VARCHAR NOT NULL,
    content          VARCHAR NOT NULL,
    side             VARCHAR NOT NULL,   -- buggy, fixed
    seed             BIGINT NOT NULL,
    attempt          INTEGER NOT NULL,
    outcome          VARCHAR NOT NULL,
    exit_code        INTEGER,
    signal           INTEGER,
    duration_s       DOUBLE NOT NULL,
    cpu_s            DOUBLE NOT NULL,
    peak_memory_mb   DOUBLE NOT NULL,
    memory_kills     INTEGER NOT NULL,
    last_output_s    DOUBLE NOT NULL,
    output_bytes     BIGINT NOT NULL,
    output_cut       BOOLEAN NOT NULL,
    written_mb       DOUBLE NOT NULL,
    files            JSON NOT NULL,      -- declared outputs: fresh, stale, missing
    checked          INTEGER,            -- exit code of the oracle's own check
    environment      VARCHAR NOT NULL,
    versions         JSON NOT NULL,
    repairs          VARCHAR[] NOT NULL,
    fidelity         VARCHAR[] NOT NULL,
    device           VARCHAR NOT NULL,   -- cpu, cuda
    device_name      VARCHAR NOT NULL,
    device_memory_mb INTEGER NOT NULL,
    device_peak_mb   INTEGER NOT NULL,
    device_use       DOUBLE,             -- percent
    isolation        VARCHAR NOT NULL,   -- bubblewrap, namespaces, none; '': nothing was started
    has_network      BOOLEAN NOT NULL,
    memory_limit     VARCHAR NOT NULL,   -- by what it was held: cgroup v2, ..., ''
    process_limit    VARCHAR NOT NULL,
    problem          VARCHAR NOT NULL,   -- one line
    host             JSON NOT NULL,      -- system and processors; no names
    started_at       TIMESTAMP,
    run_id           VARCHAR NOT NULL
);

-- What the runs of a bug show together. Nothing is ever changed here: a change is another row.
CREATE TABLE store.verdict (
    verdict_id  VARCHAR PRIMARY KEY,
    bug_id      VARCHAR NOT NULL,
    content     VARCHAR NOT NULL,
    device      VARCHAR NOT NULL,        -- cpu, cuda
    number      INTEGER NOT NULL,        -- 1, 2, ... of the same bug, content and device
    oracle_hash VARCHAR NOT NULL,        -- of the oracle that judged
    verdict     VARCHAR NOT NULL,
    reason      VARCHAR NOT NULL,
    detail      VARCHAR NOT NULL,        -- one line: the evidence
    rule        VARCHAR NOT NULL,
    wanted      INTEGER NOT NULL,        -- runs a side that would settle it; 0: settled
    buggy_runs  INTEGER NOT NULL,
    buggy_shown INTEGER NOT NULL,
    fixed_runs  INTEGER NOT NULL,
    fixed_shown INTEGER NOT NULL,
    p_value     DOUBLE,
    effect      DOUBLE,
    signature   VARCHAR NOT NULL,
    evidence    JSON NOT NULL,
    judged_at   TIMESTAMP NOT NULL,
    run_id      VARCHAR NOT NULL
);

CREATE VIEW bugs AS
WITH named AS (
    SELECT bug.* REPLACE (coalesce(a.artifact_id, bug.artifact_id) AS artifact_id)
    FROM store.bug LEFT JOIN store.alias a ON a.alias = bug.artifact_id
), settled AS (
    SELECT
        coalesce(a.artifact_id, f.artifact_id) AS artifact_id, taxonomy,
        string_agg(DISTINCT code, ', ' ORDER BY code) AS codes
    FROM final_labels f LEFT JOIN store.alias a ON a.alias = f.artifact_id
    WHERE NOT starts_with(code, '~') GROUP BY ALL
)
SELECT
    bug_id, set_name, named.artifact_id, title, url, source, framework,
    coalesce(s.codes, symptom) AS symptom,
    CASE WHEN s.codes IS NOT NULL THEN 'study' WHEN symptom <> '' THEN 'bug.toml' END AS symptom_from,
    coalesce(f.codes, fault) AS fault,
    CASE WHEN f.codes IS NOT NULL THEN 'study' WHEN fault <> '' THEN 'bug.toml' END AS fault_from,
    coalesce(f.taxonomy, named.taxonomy) AS taxonomy,
    coalesce(p.codes, property) AS property,
    CASE WHEN p.codes IS NOT NULL THEN 'study' WHEN property <> '' THEN 'bug.toml' END
        AS property_from,
    about_gpu, python, from_json(requirements, '["VARCHAR"]') AS requirements, guessed, sides, fidelity, oracle_symptom, oracle, oracle_hash,
    own_oracle, claimed_verdict, claimed_reason, content, registered_at, run_id
FROM named
LEFT JOIN settled s ON s.artifact_id = named.artifact_id AND s.taxonomy = 'symptoms'
LEFT JOIN settled f ON f.artifact_id = named.artifact_id
    AND f.taxonomy = coalesce(nullif(named.taxonomy, ''), 'humbatova')
LEFT JOIN settled p ON p.artifact_id = named.artifact_id AND p.taxonomy = 'testing-properties';

COMMENT ON VIEW bugs IS 'One row for each bug that can be run: its buggy and its fixed program, and what is said about it.';
COMMENT ON COLUMN bugs.bug_id IS 'Set and name, such as defect4ml/001';
COMMENT ON COLUMN bugs.set_name IS 'The collection that it comes from; shipped: those that come with the program';
COMMENT ON COLUMN bugs.artifact_id IS 'The issue, commit or post that its address names; NULL where it names none';
COMMENT ON COLUMN bugs.title IS 'What it is called';
COMMENT ON COLUMN bugs.url IS 'Where it was reported; empty where nobody says';
COMMENT ON COLUMN bugs.source IS 'Such as github, stackoverflow or own';
COMMENT ON COLUMN bugs.framework IS 'Such as tensorflow; empty where nobody says';
COMMENT ON COLUMN bugs.symptom IS 'Codes of the taxonomy symptoms: the study''s final labels of the artifact, else what bug.toml says';
COMMENT ON COLUMN bugs.symptom_from IS 'study, bug.toml, or NULL where nobody says';
COMMENT ON COLUMN bugs.fault IS 'Codes of the fault: the study''s final labels of the artifact, else what bug.toml says';
COMMENT ON COLUMN bugs.fault_from IS 'study, bug.toml, or NULL where nobody says';
COMMENT ON COLUMN bugs.taxonomy IS 'The taxonomy of fault: that of bug.toml; where it names none, humbatova';
COMMENT ON COLUMN bugs.property IS 'Codes of testing-properties: the study''s final labels of the artifact, else what bug.toml says';
COMMENT ON COLUMN bugs.property_from IS 'study, bug.toml, or NULL where nobody says';
COMMENT ON COLUMN bugs.about_gpu IS 'Whether it is about a GPU: on a CPU it cannot be judged';
COMMENT ON COLUMN bugs.python IS 'The Python that it asks for; any where it does not matter';
COMMENT ON COLUMN bugs.requirements IS 'Its pins, as they stand in requirements.txt';
COMMENT ON COLUMN bugs.guessed IS 'Which of Python and pins nobody declared: taken from a date';
COMMENT ON COLUMN bugs.sides IS 'Those that can be run: buggy, fixed';
COMMENT ON COLUMN bugs.fidelity IS 'How near the artifact is to what its reporter ran: declared, guessed, repaired, substituted, stand-in data';
COMMENT ON COLUMN bugs.oracle_symptom IS 'What our oracle looks for: crash, nan, hang, out of memory, incorrect output or bad performance';
COMMENT ON COLUMN bugs.oracle IS 'Our oracle';
COMMENT ON COLUMN bugs.oracle_hash IS 'Hash of our oracle';
COMMENT ON COLUMN bugs.own_oracle IS 'What the artifact brought as its oracle: recorded, never used';
COMMENT ON COLUMN bugs.claimed_verdict IS 'What the artifact''s author says comes out: recorded, never used; empty where nobody says';
COMMENT ON COLUMN bugs.claimed_reason IS 'The author''s reason; empty where nobody says';
COMMENT ON COLUMN bugs.content IS 'Hash of all that decides what is run';
COMMENT ON COLUMN bugs.registered_at IS 'When it was imported as it is now. UTC';
COMMENT ON COLUMN bugs.run_id IS 'The run that wrote the row';

CREATE VIEW bug_samples AS
SELECT
    sample, draw, bug_id, stratum, position,
    count(*) OVER (PARTITION BY sample, draw, stratum) AS stratum_size,
    count(position) OVER (PARTITION BY sample, draw, stratum) AS stratum_drawn,
    draw = max(draw) OVER (PARTITION BY sample) AS is_latest, sets, strata, seed, asked, size,
    frame_count, frame_hash, size_rule, drawn_at, bug_sample.run_id
FROM store.bug_sample JOIN store.bug_draw USING (sample, draw);

COMMENT ON VIEW bug_samples IS 'One row for each bug of the frame of each draw; those with a position were drawn.';
COMMENT ON COLUMN bug_samples.sample IS 'Name of the sample';
COMMENT ON COLUMN bug_samples.draw IS '1, 2, ...: each stands for itself, and the last is the sample';
COMMENT ON COLUMN bug_samples.bug_id IS 'The bug';
COMMENT ON COLUMN bug_samples.stratum IS 'Values of the columns that it was stratified by, joined by / ; empty without strata';
COMMENT ON COLUMN bug_samples.position IS 'Its place in the order of drawing, from 1; NULL where it was not drawn';
COMMENT ON COLUMN bug_samples.stratum_size IS 'Bugs of the frame in its stratum';
COMMENT ON COLUMN bug_samples.stratum_drawn IS 'How many of them were drawn';
COMMENT ON COLUMN bug_samples.is_latest IS 'Whether this is the last draw of the sample';
COMMENT ON COLUMN bug_samples.sets IS 'The sets that the frame is made of';
COMMENT ON COLUMN bug_samples.strata IS 'Columns of bugs that the frame is divided by';
COMMENT ON COLUMN bug_samples.seed IS 'Seed of the draw';
COMMENT ON COLUMN bug_samples.asked IS 'The size that was asked for';
COMMENT ON COLUMN bug_samples.size IS 'Bugs in the sample';
COMMENT ON COLUMN bug_samples.frame_count IS 'Bugs in the frame';
COMMENT ON COLUMN bug_samples.frame_hash IS 'SHA-256 of the frame: of the lines id, NUL, stratum, NUL in the order of ids';
COMMENT ON COLUMN bug_samples.size_rule IS 'How the size came about and was shared out';
COMMENT ON COLUMN bug_samples.drawn_at IS 'UTC';
COMMENT ON COLUMN bug_samples.run_id IS 'The run that wrote the row';

CREATE VIEW executions AS
SELECT
    execution_id, bug_id, coalesce(a.artifact_id, bug.artifact_id) AS artifact_id,
    execution.content, side, seed, attempt, device, environment, isolation, outcome, exit_code,
    signal, duration_s, cpu_s, peak_memory_mb, memory_kills, last_output_s, output_bytes,
    output_cut, written_mb, files, checked, versions, repairs, execution.fidelity, device_name,
    device_memory_mb, device_peak_mb, device_use, has_network, memory_limit, process_limit,
    problem, host, started_at, execution.run_id
FROM store.execution
LEFT JOIN store.bug USING (bug_id)
LEFT JOIN store.alias a ON a.alias = bug.artifact_id;

COMMENT ON VIEW executions IS 'One row for each run of one side of a bug.';
COMMENT ON COLUMN executions.execution_id IS 'Hash of the record of the run';
COMMENT ON COLUMN executions.bug_id IS 'The bug, such as defect4ml/001';
COMMENT ON COLUMN executions.artifact_id IS 'The issue, commit or post that the bug is about; NULL where there is none';
COMMENT ON COLUMN executions.content IS 'Hash of all that decided what was run';
COMMENT ON COLUMN executions.side IS 'buggy or fixed';
COMMENT ON COLUMN executions.seed IS 'The seed that the run was given';
COMMENT ON COLUMN executions.attempt IS 'From 1; more only where an earlier one was the host''s fault';
COMMENT ON COLUMN executions.device IS 'cpu or cuda';
COMMENT ON COLUMN executions.environment IS 'Key of the environment: of interpreter and pins';
COMMENT ON COLUMN executions.isolation IS 'bubblewrap, namespaces or none; empty where nothing was started';
COMMENT ON COLUMN executions.outcome IS 'exited, signalled, timed out, out of memory, disk full, too many processes, output limit, no environment, no interpreter, no data, bad artifact, not started or lost';
COMMENT ON COLUMN executions.exit_code IS 'Of a run that ended by itself';
COMMENT ON COLUMN executions.signal IS 'Of a run that a signal ended';
COMMENT ON COLUMN executions.duration_s IS 'Seconds from start to end';
COMMENT ON COLUMN executions.cpu_s IS 'Seconds of processor time';
COMMENT ON COLUMN executions.peak_memory_mb IS 'Most memory in use, in MB';
COMMENT ON COLUMN executions.memory_kills IS 'How many processes the kernel ended for want of memory';
COMMENT ON COLUMN executions.last_output_s IS 'When it wrote its last output, in seconds from the start';
COMMENT ON COLUMN executions.output_bytes IS 'How much it wrote to its output';
COMMENT ON COLUMN executions.output_cut IS 'Whether its output was cut at the limit';
COMMENT ON COLUMN executions.written_mb IS 'How much it wrote to its folder, in MB';
COMMENT ON COLUMN executions.files IS 'The files that it had to write: fresh, stale or missing';
COMMENT ON COLUMN executions.checked IS 'Exit code of the oracle''s own check; NULL where it has none';
COMMENT ON COLUMN executions.versions IS 'What was really installed';
COMMENT ON COLUMN executions.repairs IS 'Known repairs of pins that were needed to build the environment';
COMMENT ON COLUMN executions.fidelity IS 'How near it was to what the reporter ran: declared, guessed, repaired, substituted, stand-in data';
COMMENT ON COLUMN executions.device_name IS 'What the GPU is called; empty on a CPU';
COMMENT ON COLUMN executions.device_memory_mb IS 'Memory of the GPU, in MB';
COMMENT ON COLUMN executions.device_peak_mb IS 'Most memory of the GPU in use, as sampled, in MB';
COMMENT ON COLUMN executions.device_use IS 'Mean use of the GPU, as sampled, in percent';
COMMENT ON COLUMN executions.has_network IS 'Whether it could reach a network';
COMMENT ON COLUMN executions.memory_limit IS 'What held its memory: cgroup v2, cgroup v1, address space; empty for nothing';
COMMENT ON COLUMN executions.process_limit IS 'What held its processes: cgroup v2, cgroup v1, watched; empty for nothing';
COMMENT ON COLUMN executions.problem IS 'One line: why it could not be run';
COMMENT ON COLUMN executions.host IS 'System and processors of the machine; no names';
COMMENT ON COLUMN executions.started_at IS 'UTC';
COMMENT ON COLUMN executions.run_id IS 'The run that wrote the row';

CREATE VIEW verdict_history AS
SELECT
    verdict_id, bug_id, coalesce(a.artifact_id, bug.artifact_id) AS artifact_id, verdict.content,
    coalesce(verdict.content = bug.content, false) AS is_current, device, number, verdict, reason, detail,
    rule, buggy_runs, buggy_shown, fixed_runs, fixed_shown, p_value, effect, signature, evidence,
    wanted, coalesce(verdict.oracle_hash = bug.oracle_hash, false) AS oracle_is_current, judged_at,
    verdict.run_id
FROM store.verdict
LEFT JOIN store.bug USING (bug_id)
LEFT JOIN store.alias a ON a.alias = bug.artifact_id;

COMMENT ON VIEW verdict_history IS 'One row for each verdict that was ever reached, also on what a bug was before it changed.';
COMMENT ON COLUMN verdict_history.verdict_id IS 'Made of the verdict and its run';
COMMENT ON COLUMN verdict_history.bug_id IS 'The bug, such as defect4ml/001';
COMMENT ON COLUMN verdict_history.artifact_id IS 'The issue, commit or post that the bug is about; NULL where there is none';
COMMENT ON COLUMN verdict_history.content IS 'Hash of all that decided what was run: joins executions';
COMMENT ON COLUMN verdict_history.is_current IS 'Whether the bug still is what was judged';
COMMENT ON COLUMN verdict_history.device IS 'cpu or cuda';
COMMENT ON COLUMN verdict_history.number IS '1, 2, ... of the same bug, content and device';
COMMENT ON COLUMN verdict_history.verdict IS 'verified, reproduced, not reproduced, flaky, invalid or infrastructure';
COMMENT ON COLUMN verdict_history.reason IS 'Why it is not verified; empty where it is';
COMMENT ON COLUMN verdict_history.detail IS 'The evidence in one line';
COMMENT ON COLUMN verdict_history.rule IS 'The rule that decided';
COMMENT ON COLUMN verdict_history.buggy_runs IS 'Runs of the buggy side that count';
COMMENT ON COLUMN verdict_history.buggy_shown IS 'How many of them showed the symptom';
COMMENT ON COLUMN verdict_history.fixed_runs IS 'Runs of the fixed side that count';
COMMENT ON COLUMN verdict_history.fixed_shown IS 'How many of them showed the symptom';
COMMENT ON COLUMN verdict_history.p_value IS 'Of the test that compares the sides; NULL where there was none';
COMMENT ON COLUMN verdict_history.effect IS 'Vargha and Delaney''s A12 of a measured symptom';
COMMENT ON COLUMN verdict_history.signature IS 'Of a crash: exception, message without numbers, place';
COMMENT ON COLUMN verdict_history.evidence IS 'What else the rule saw';
COMMENT ON COLUMN verdict_history.wanted IS 'Runs a side that would settle it; 0 where it is settled';
COMMENT ON COLUMN verdict_history.oracle_is_current IS 'Whether the bug still has the oracle that judged';
COMMENT ON COLUMN verdict_history.judged_at IS 'UTC';
COMMENT ON COLUMN verdict_history.run_id IS 'The run that wrote the row';

-- Of each bug as it is now the newest verdict; what one device could not run, another may have.
CREATE VIEW verdicts AS
SELECT
    h.verdict_id, h.bug_id, h.artifact_id, h.content, h.device, h.verdict, h.reason, h.detail,
    h.rule, h.buggy_runs, h.buggy_shown, h.fixed_runs, h.fixed_shown, h.p_value, h.effect,
    h.signature, h.evidence, h.wanted, b.claimed_verdict, b.claimed_reason, b.own_oracle,
    (
        SELECT list(DISTINCT mark ORDER BY mark) FROM (
            SELECT unnest(b.fidelity) AS mark
            UNION ALL
            SELECT unnest(e.fidelity) FROM store.execution e
            WHERE e.bug_id = h.bug_id AND e.content = h.content AND e.device = h.device
        )
    ) AS fidelity,
    coalesce((
        SELECT list(DISTINCT e.isolation ORDER BY e.isolation) FROM store.execution e
        WHERE e.bug_id = h.bug_id AND e.content = h.content AND e.device = h.device
        AND e.outcome NOT IN (
            'no environment', 'no interpreter', 'no data', 'bad artifact', 'not started', 'lost'
        )
    ), []) AS isolations,
    (
        SELECT count(*) FROM store.execution e
        WHERE e.bug_id = h.bug_id AND e.content = h.content AND e.device = h.device
    ) AS run_count,
    h.oracle_is_current, h.judged_at, h.run_id
FROM (
    SELECT * FROM verdict_history WHERE is_current
    QUALIFY row_number() OVER (
        PARTITION BY bug_id, device ORDER BY run_id DESC, number DESC, verdict_id
    ) = 1
) h
JOIN store.bug b USING (bug_id)
QUALIFY row_number() OVER (
    PARTITION BY h.bug_id ORDER BY h.verdict = 'infrastructure', h.run_id DESC, h.verdict_id
) = 1;

COMMENT ON VIEW verdicts IS 'One row for each bug that was judged as it is now: the newest verdict, and where devices differ, one that is not infrastructure.';
COMMENT ON COLUMN verdicts.verdict_id IS 'Made of the verdict and its run';
COMMENT ON COLUMN verdicts.bug_id IS 'The bug, such as defect4ml/001';
COMMENT ON COLUMN verdicts.artifact_id IS 'The issue, commit or post that the bug is about; NULL where there is none';
COMMENT ON COLUMN verdicts.content IS 'Hash of all that decided what was run: joins executions';
COMMENT ON COLUMN verdicts.device IS 'cpu or cuda';
COMMENT ON COLUMN verdicts.verdict IS 'verified, reproduced, not reproduced, flaky, invalid or infrastructure';
COMMENT ON COLUMN verdicts.reason IS 'Why it is not verified; empty where it is';
COMMENT ON COLUMN verdicts.detail IS 'The evidence in one line';
COMMENT ON COLUMN verdicts.rule IS 'The rule that decided';
COMMENT ON COLUMN verdicts.buggy_runs IS 'Runs of the buggy side that count';
COMMENT ON COLUMN verdicts.buggy_shown IS 'How many of them showed the symptom';
COMMENT ON COLUMN verdicts.fixed_runs IS 'Runs of the fixed side that count';
COMMENT ON COLUMN verdicts.fixed_shown IS 'How many of them showed the symptom';
COMMENT ON COLUMN verdicts.p_value IS 'Of the test that compares the sides; NULL where there was none';
COMMENT ON COLUMN verdicts.effect IS 'Vargha and Delaney''s A12 of a measured symptom';
COMMENT ON COLUMN verdicts.signature IS 'Of a crash: exception, message without numbers, place';
COMMENT ON COLUMN verdicts.evidence IS 'What else the rule saw';
COMMENT ON COLUMN verdicts.wanted IS 'Runs a side that would settle it; 0 where it is settled';
COMMENT ON COLUMN verdicts.claimed_verdict IS 'What the artifact''s author says comes out: beside ours, never used';
COMMENT ON COLUMN verdicts.claimed_reason IS 'The author''s reason';
COMMENT ON COLUMN verdicts.own_oracle IS 'What the artifact brought as its oracle: beside ours, never used';
COMMENT ON COLUMN verdicts.fidelity IS 'How near artifact and runs were to what the reporter ran';
COMMENT ON COLUMN verdicts.isolations IS 'What kept its runs from the rest of the machine; empty where none was started';
COMMENT ON COLUMN verdicts.run_count IS 'Runs of it on this device, also those that could not start';
COMMENT ON COLUMN verdicts.oracle_is_current IS 'Whether the bug still has the oracle that judged: if not, judge again';
COMMENT ON COLUMN verdicts.judged_at IS 'UTC';
COMMENT ON COLUMN verdicts.run_id IS 'The run that wrote the row';
