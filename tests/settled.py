"""Final labels put into a study at once, as an older study has them: without a round."""

from __future__ import annotations

from faultatlas.data.study import Writer


def put_final(
    writer: Writer,
    artifact: str,
    code: str = "c",
    *,
    round_name: str = "pilot",
    taxonomy: str = "t",
    version: str = "1",
    run_id: str = "r",
) -> None:
    """The final code of an artifact."""
    writer.execute(
        "INSERT INTO store.settlement VALUES (left(sha256(concat_ws(chr(0), $1, $3, $2)), 16), "
        "$1, $2, $2, $3, $4, [$5], 'imported', 'as the sheet says', NULL, NULL, NULL, NULL, $6, "
        "true)",
        [round_name, artifact, taxonomy, version, code, run_id],
    )
