"""What becomes of every column of a study in a package.

Each table and each column is named here, so that a new one cannot be published by oversight: a
test compares this list with the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

LEFT_OUT = "[left out]"  # where a text was: that there was one matters to some numbers


class Treatment(Enum):
    """What is done with the values of a column."""

    KEEP = "kept"
    WORDS = "the team's own words: kept without people, secrets, paths and raters' names"
    TAGS = "short words of strangers that results count: kept without people and secrets"
    TEXT = "left out unless texts are asked for; then people and secrets are taken out"
    ABSTRACT = "left out always: publishers hold the rights; that there is one is told"
    EMPTY = "left out"
    RATER = "raters get other names"
    PERSON = "a pseudonym; another one for double-blind review"
    RUN = "the id of a run; for double-blind review a number"
    TIME = "a time of a run; for double-blind review the day"
    AUTHORS = "authors of papers; left out for double-blind review"
    SERVER = "servers get other names"
    FILE = "names of files get other names"
    PLACE = "of a file and a row, the row"
    ARGUMENTS = "of a command's arguments those that name no file and no person"
    ADDRESS = "without what stands behind the question mark"
    REQUEST = "the kind of request only"
    DEFINITION = "as words, in all its entries"
    CELLS = "rows of published packages whose licence allows it, without people and secrets"
    SUBJECT = "that something was forgotten, not what"


# Tables that stay behind: what mining needs to go on, accounts, and what is computed anew.
LEFT_BEHIND = frozenset(
    {
        "account", "checkpoint", "claim", "dump_read", "git_walk", "key_check", "link_read",
        "part_read", "post_told", "reference", "result", "schema_migration", "task", "traffic",
        "wanted",
    }
)  # fmt: skip


def _table(kept: str, **treated: Treatment) -> Mapping[str, Treatment]:
    columns = {**dict.fromkeys(kept.split(), Treatment.KEEP), **treated}
    if "run_id" in columns:
        columns["run_id"] = Treatment.RUN
    return columns


_W, _T, _E, _R = Treatment.WORDS, Treatment.TEXT, Treatment.EMPTY, Treatment.RATER
_P, _L, _A = Treatment.PERSON, Treatment.PLACE, Treatment.AUTHORS
_S, _D = Treatment.TAGS, Treatment.DEFINITION

TABLES: Mapping[str, Mapping[str, Treatment]] = {
    "alias": _table("alias artifact_id kind run_id response_id"),
    "answer": _table(
        "answer_id round item_id artifact_id stage taxonomy taxonomy_version codes confidence "
        "lead_time_s labelled_at supersedes run_id",
        rater=_R, comment=_T, proposed=_W, origin=_L,
    ),
    "assignment": _table("round item_id position run_id", rater=_R),
    "bug": _table(
        "bug_id set_name artifact_id source symptom fault taxonomy property framework about_gpu "
        "python guessed sides fidelity oracle_symptom oracle_hash claimed_verdict content row_hash "
        "run_id",
        title=_T, url=Treatment.ADDRESS, requirements=_D, oracle=_D, own_oracle=_D,
        claimed_reason=_W, registered_at=Treatment.TIME,
    ),
    "bug_draw": _table(
        "sample draw sets strata seed asked size frame_count frame_hash size_rule drawn_at run_id"
    ),
    "bug_sample": _table("sample draw bug_id position run_id", stratum=_W),
    "code_place": _table(
        "place_id artifact_id taxonomy code support supersedes run_id",
        rater=_R, place=_W, quote=_T, origin=_L,
    ),
    "comment": _table(
        "comment_id artifact_id author_association created_at updated_at url gone_at row_hash "
        "run_id fetched_at response_id",
        author=_P, body=_T,
    ),
    "commit": _table(
        "artifact_id project sha parents author_epoch author_zone committer_epoch committer_zone "
        "created_at encoding gone_at gone_reason run_id fetched_at",
        author=_P, committer=_P, message=_T, problem=_E,
    ),
    "commit_diff": _table("artifact_id diff functions_read run_id", problem=_E),
    "commit_file": _table(
        "artifact_id position change similarity old_mode new_mode old_blob new_blob "
        "added deleted hunks",
        path=_S, old_path=_S, path_bytes=_E, problem=_E,
    ),
    "commit_function": _table(
        "artifact_id file name kind change old_start old_end new_start new_end"
    ),
    "commit_hunk": _table(
        "artifact_id file position old_start old_lines new_start new_lines", section=_T, text=_T
    ),
    "departure": _table("artifact_id reason moved_to gone_at run_id response_id"),
    "execution": _table(
        "execution_id bug_id content side seed attempt outcome exit_code signal duration_s cpu_s "
        "peak_memory_mb memory_kills last_output_s output_bytes output_cut written_mb checked "
        "environment fidelity device device_name device_memory_mb device_peak_mb device_use "
        "isolation has_network memory_limit process_limit run_id",
        files=_D, versions=_D, repairs=_W, problem=_W, host=_D, started_at=Treatment.TIME,
    ),
    "forgotten": _table("kind forgotten_at run_id", subject=Treatment.SUBJECT),
    "frame_member": _table("frame_hash artifact_id rank_value run_id", stratum=_W),
    "funnel_count": _table("step source kind rows_in rows_out rows_unknown"),
    "funnel_member": _table("step artifact_id"),
    "funnel_step": _table(
        "step position run_id ran_at", predicate=_W, definition=Treatment.DEFINITION
    ),
    "gate": _table(
        "round stage statistic threshold value low high items is_passed decided_at run_id",
        reason=_W,
    ),
    "issue": _table(
        "artifact_id source project number is_pull node_id author_association state state_reason "
        "comment_count reaction_count is_locked "
        "is_draft created_at updated_at closed_at merged_at url row_hash run_id fetched_at "
        "response_id",
        title=_T, body=_T, author=_P, closed_by=_P, milestone=_W,
        tracker_labels=_S, tracker_type=_S, tracker_priority=_S,
    ),
    "issue_event": _table(
        "event_id artifact_id kind other_id created_at row_hash run_id fetched_at response_id",
        actor=_P, label=_S, detail=_T,
    ),
    "item": _table("round item_id artifact_id position run_id", stratum=_W, place=_L),
    "keyword_hit": _table(
        "artifact_id lexicon reading run_id", words=_S, text_run=Treatment.RUN
    ),
    "known_paper": _table("position title title_key year doi run_id", list=_W),
    "link": _table("from_id to_id kind found_in score run_id", evidence=_T),
    "lost_label": _table("artifact_id lost_at run_id response_id", label=_S),
    "package_file": _table("package file digest size run_id"),
    "package_row": _table("package file sheet line run_id", cells=Treatment.CELLS),
    "paper": _table(
        "artifact_id title year venue doi publication_type url cited_by row_hash run_id "
        "fetched_at response_id",
        authors=_A, abstract=Treatment.ABSTRACT,
    ),
    "paper_record": _table(
        "record_id artifact_id own_id position matched_by title "
        "title_key year venue doi publication_type url cited_by row_hash run_id "
        "fetched_at response_id",
        source=Treatment.FILE, search=_W, record_key=_A, authors=_A, abstract=Treatment.ABSTRACT,
    ),
    "post": _table(
        "artifact_id site post_id tags score view_count answer_count accepted_answer_id license "
        "created_at edited_at closed_at updated_at url row_hash run_id fetched_at response_id",
        title=_T, body=_T, author=_P,
    ),
    "project": _table(
        "project_id round stage taxonomy_version blindness run_id retired_at",
        server=Treatment.SERVER, rater=_R,
    ),
    "rater": _table("added_at run_id", rater=_R),
    "relabel": _table("answer_id to_version code choices run_id"),
    "reply": _table(
        "comment_id artifact_id is_answer post_id score license created_at edited_at updated_at "
        "url gone_at row_hash run_id fetched_at response_id",
        author=_P, body=_T,
    ),
    "repository": _table(
        "repository_id source project url language stars forks open_issues license is_fork "
        "is_archived is_disabled size_kb default_branch created_at pushed_at updated_at row_hash "
        "run_id fetched_at response_id",
        topics=_S, description=_T,
    ),
    "response": _table(
        "number response_id run_id source project status fetched_at size",
        request=Treatment.REQUEST, url=Treatment.ADDRESS, final_url=Treatment.ADDRESS,
        headers=_E, body=_E,
    ),
    "round": _table(
        "round origin sample taxonomy taxonomy_version choice after_round overlap seed statistic "
        "threshold suggestions created_at run_id"
    ),
    "round_rater": _table("round position run_id", rater=_R),
    "run": _table(
        "run_id command version outcome", started_at=Treatment.TIME, ended_at=Treatment.TIME,
        arguments=Treatment.ARGUMENTS,
    ),
    "sample": _table(
        "sample method allocation strata seed run_id", frame=_W, ordered_by=_W
    ),
    "sample_draw": _table(
        "sample draw frame_count frame_hash size size_rule confidence margin rounding "
        "drawn_at run_id asked taken",
        frame_query=_W,
    ),
    "sampled": _table("sample position artifact_id draw run_id", stratum=_W),
    "screening": _table("round step position run_id"),
    "search_result": _table(
        "repository_id project left_out turn slice first_seen_at last_seen_at run_id response_id",
        search=_W,
    ),
    "search_slice": _table(
        "turn number created_from created_to state total_count found_count pages "
        "reads is_incomplete counted counted_from run_id updated_at",
        search=_W, query=_W, next_url=_E,
    ),
    "settlement": _table(
        "settlement_id round item_id artifact_id taxonomy taxonomy_version codes settled_by "
        "settled_at supersedes run_id",
        rule=_W, adjudicator=_R, comment=_T,
    ),
    "suggestion": _table("round item_id code probability position run_id", model=_W),
    "taxonomy_change": _table(
        "taxonomy from_version to_version position kind old_codes new_codes run_id",
        reason=_W,
    ),
    "taxonomy_text": _table("taxonomy version run_id", text=_W),
    "verdict": _table(
        "verdict_id bug_id content device number oracle_hash verdict reason rule wanted buggy_runs "
        "buggy_shown fixed_runs fixed_shown p_value effect run_id",
        detail=_W, signature=_W, evidence=_D, judged_at=Treatment.TIME,
    ),
}  # fmt: skip
