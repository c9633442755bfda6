"""A step that draws: leaves a sample of what was asked for, of each group if there are some."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.queries import frame, value_type
from faultatlas.data.sampling import Rounding, draw_key_sql, sample_size

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Writer
    from faultatlas.miner.funnel.steps import Draw

# Types that have an order which a reader would expect.
_ORDERED = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM|FLOAT|DOUBLE|DECIMAL\(.*\)|BOOLEAN|VARCHAR|DATE"
    r"|TIME|TIMESTAMP.*|INTERVAL|\"NULL\""
)


def refuse_unordered(reader: Reader, name: str, draw: Draw) -> None:
    """Before anything is run: that there is a highest of these values."""
    if draw.highest and not _ORDERED.fullmatch(kind := value_type(reader, draw.highest)):
        raise StudyError(
            f"step {name!r}: --highest {draw.highest} has no order, it is {kind}",
            "Name a number, a date or a text: --highest score.",
        )


def draw_sample(writer: Writer, draw: Draw) -> None:
    """Of those in `asked` that pass because they were asked for, leave a sample."""
    group = f"(\n{draw.by}\n)::VARCHAR" if draw.by else "''"
    value = "NULL"
    if draw.highest:
        value = f"(\n{draw.highest}\n)"
        if value_type(writer, draw.highest) in ("FLOAT", "DOUBLE"):  # what is no number is unknown
            value = f"nullif({value}, 'nan'::DOUBLE)"
    writer.execute(
        "CREATE OR REPLACE TEMP TABLE stratum AS "
        f"SELECT artifact_id, coalesce({group}, '') AS stratum, {value} AS value "
        f"FROM {frame(writer, draw.by, draw.highest)} WHERE artifact_id IN "
        "(SELECT artifact_id FROM asked WHERE passes AND NOT is_other)"
    )
    sizes = {
        row["stratum"]: _size(draw, row["size"])
        for row in writer.rows("SELECT stratum, count(*) AS size FROM stratum GROUP BY ALL")
    }
    # Among equals, the order of the draw decides.
    key = draw_key_sql("$1", "stratum", "artifact_id")
    writer.execute(
        "UPDATE asked SET passes = false WHERE passes AND NOT is_other AND artifact_id NOT IN ("
        "SELECT artifact_id FROM stratum JOIN "
        "(SELECT unnest($2::VARCHAR[]) AS stratum, unnest($3::BIGINT[]) AS size) USING (stratum) "
        "QUALIFY row_number() OVER "
        f"(PARTITION BY stratum ORDER BY value DESC NULLS LAST, {key}) <= size)",
        [str(draw.seed), list(sizes), list(sizes.values())],
    )


def _size(draw: Draw, population: int) -> int:
    if draw.size is not None:
        return min(draw.size, population)
    rounding: Rounding = "up" if draw.rounding == "up" else "nearest"
    return sample_size(population, draw.confidence, draw.margin, rounding=rounding)
