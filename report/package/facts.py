"""What the papers of a package tell: counted on the study that is packed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.data.settings import About
from faultatlas.report.package.copying import LeftOut, Options

if TYPE_CHECKING:
    from faultatlas.data.study import Reader
    from faultatlas.report.package.computing import Entry

ANONYMOUS = "Anonymous"
UNTITLED = "Untitled study"

# Who holds the rights on texts that were mined, as the sources themselves say.
LICENCES = {
    "github": "of their authors, under GitHub's terms of service (section D.5)",
    "gitee": "of their authors, under Gitee's terms of service",
    "git": "that of the repository which the commit is from",
    "stackoverflow": "CC BY-SA 4.0 (older posts: 3.0 or 2.5; the column license says which)",
    "paper": "of the publishers; abstracts are never in a package",
}
_MISSING = {
    "title": "a title",
    "description": "a description",
    "authors": "authors",
    "licence": "a licence",
    "keywords": "keywords",
    "version": "a version",
    "date": "a date",
}


@dataclass(frozen=True)
class Facts:
    """All that is told about the package."""

    about: About
    options: Options
    version: str  # of the program
    entries: list[Entry]
    without: LeftOut
    artifacts: list[dict[str, Any]]  # source, kind, count, first, last
    projects: list[str]
    rounds: list[dict[str, Any]]
    funnel: list[dict[str, Any]]
    views: dict[str, str]  # what one row of each is
    columns: list[dict[str, Any]]
    texts: list[dict[str, Any]] = field(default_factory=list)  # addresses and licences

    @property
    def title(self) -> str:
        """The title of the study."""
        return self.about.title or UNTITLED

    @property
    def missing(self) -> list[str]:
        """What a publication needs and `study.toml` does not say."""
        hidden = {"authors"} if self.options.double_blind else set()
        return [
            said
            for name, said in _MISSING.items()
            if name not in hidden and not getattr(self.about, name)
        ]

    @property
    def sources(self) -> list[str]:
        """Where artifacts are from."""
        return sorted({row["source"] for row in self.artifacts})


def gather(
    reader: Reader,
    about: About,
    options: Options,
    *,
    version: str,
    entries: list[Entry],
    without: LeftOut,
) -> Facts:
    """Count what there is."""
    return Facts(
        about=_blind(about) if options.double_blind else about,
        options=options,
        version=version,
        entries=entries,
        without=without,
        artifacts=reader.rows(
            "SELECT source, kind, count(*) AS artifacts, min(created_at)::DATE::VARCHAR AS first, "
            "max(created_at)::DATE::VARCHAR AS last, count(gone_at) AS gone FROM artifacts "
            "WHERE kind IS NOT NULL GROUP BY source, kind ORDER BY source, kind"
        ),
        projects=[
            row["project"]
            for row in reader.rows(
                "SELECT DISTINCT project FROM artifacts WHERE source <> 'paper' "
                "AND project IS NOT NULL ORDER BY project"
            )
        ],
        rounds=reader.rows(
            "SELECT round, taxonomy, taxonomy_version, len(raters) AS raters, item_count "
            "FROM rounds ORDER BY round"
        ),
        funnel=reader.rows(
            "SELECT step, predicate, sum(rows_in)::BIGINT AS rows_in, "
            "sum(rows_out)::BIGINT AS rows_out FROM funnel GROUP BY step, predicate, position "
            "ORDER BY position"
        ),
        views={
            row["view_name"]: row["comment"] or ""
            for row in reader.rows(
                "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            )
        },
        columns=reader.rows(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
            "WHERE schema_name = 'main' AND NOT internal ORDER BY table_name, column_index"
        ),
        texts=_texts(reader) if options.with_texts else [],
    )


def _blind(about: About) -> About:
    """What may be told to reviewers who must not know whose it is."""
    return About(
        title=about.title,
        description=about.description,
        licence=about.licence,
        keywords=about.keywords,
        version=about.version,
        date=about.date,
    )


def _texts(reader: Reader) -> list[dict[str, Any]]:
    """Whose texts are in the package: each with its address and, where it says so, its licence."""
    return reader.rows(
        "SELECT a.artifact_id, a.source, a.url, a.author, p.license FROM artifacts a "
        "LEFT JOIN store.post p USING (artifact_id) WHERE a.kind IS NOT NULL AND a.kind <> 'paper' "
        "UNION ALL SELECT comment_id, 'stackoverflow', url, author, license FROM store.reply "
        "UNION ALL SELECT comment_id, regexp_extract(artifact_id, '^[a-z]+'), url, author, NULL "
        "FROM store.comment ORDER BY ALL"
    )
