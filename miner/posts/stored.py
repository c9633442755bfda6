"""What the study has of a selection of questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.miner.posts.naming import question_id

if TYPE_CHECKING:
    from faultatlas.data.study import Study
    from faultatlas.miner.posts.selection import PostSelection


def count(study: Study, selection: PostSelection) -> dict[str, int]:
    """Questions, those with an accepted answer, answers, comments, and who is gone."""
    if not study.exists:
        return dict.fromkeys(("posts", "accepted", "answers", "comments", "gone", "forgotten"), 0)
    has = "list_has_all" if selection.all_tags else "list_has_any"
    tagged = f"{has}(tags, ?::VARCHAR[])" if selection.tags else "len(?::VARCHAR[]) = 0"
    prefix = question_id(selection.site, 0)[:-1]
    with study.reading() as reader:
        (found,) = reader.rows(
            f"WITH meant AS (FROM store.post WHERE site = ? AND {tagged} "
            "AND (NOT ? OR accepted_answer_id IS NOT NULL) "
            "AND coalesce(created_at >= ?, true)), "
            "said AS (SELECT is_answer FROM store.reply "
            "WHERE gone_at IS NULL AND artifact_id IN (SELECT artifact_id FROM meant)) "
            "SELECT (SELECT count(*) FROM meant) AS posts, "
            "(SELECT count(accepted_answer_id) FROM meant) AS accepted, "
            "(SELECT count(*) FILTER (is_answer) FROM said) AS answers, "
            "(SELECT count(*) FILTER (NOT is_answer) FROM said) AS comments, "
            "(SELECT count(*) FROM store.departure "
            "WHERE artifact_id IN (SELECT artifact_id FROM meant)) AS gone, "
            "(SELECT count(*) FROM store.forgotten WHERE kind = 'artifact' "
            "AND regexp_full_match(substr(subject, ?), '[0-9]+') AND starts_with(subject, ?)) "
            "AS forgotten",
            [
                selection.site,
                list(selection.tags),
                selection.accepted,
                selection.since,
                len(prefix) + 1,
                prefix,
            ],
        )
    return {name: int(value) for name, value in found.items()}
