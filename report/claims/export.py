r"""A study's numbers for a manuscript: LaTeX commands, CSV, and which numbers a manuscript lacks.

In LaTeX a command consists of letters. `coverage-gap.faults.untargeted` is
`\FAcoverageGapFaultsUntargeted`: the words of the id, each but the first with a capital, digits
spelled out. A name depends on nothing but the id. Only where two ids of a study have the same name,
or an id has letters that LaTeX does not accept, six letters of a digest of the id follow; and the
short name then raises an error.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.results import Result
from faultatlas.data.sheets import csv_text
from faultatlas.data.study import Study
from faultatlas.report import formatting
from faultatlas.report import latex as tex
from faultatlas.report.command import command
from faultatlas.report.console import Console, explained
from faultatlas.report.formatting import counted, plain

PREFIX = "FA"
# In \faNum[low]{id}; without a key it is the value with its unit.
KEYS = ("value", "number", "low", "high", "interval", "count", "total", "printed", "status")

_LARGEST = 20_000_000  # bytes of a manuscript
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_WORD = re.compile(r"[A-Za-z]+|[0-9]")
_LONGEST_NAME = 200
_CSV = (
    "claim_id", "command", "statement", "value", "unit", "low", "high", "count", "total", "method",
    "printed", "status", "query", "result",
)  # fmt: skip


@command("claims export")
def claims_export(
    study: Study,
    console: Console,
    results: Annotated[
        tuple[str, ...],
        Argument(metavar="RESULT", help="Claims of these results; without any, all."),
    ] = (),
    *,
    latex: Annotated[
        Path | None, Option(metavar="FILE", help="Write a LaTeX command for each number.")
    ] = None,
    csv: Annotated[
        Path | None, Option(metavar="FILE", help="Write the exact numbers as CSV.")
    ] = None,
    check: Annotated[
        tuple[Path, ...],
        Option(
            metavar="FILE.tex",
            help="Fail if this manuscript uses a number that the study lacks. Repeatable.",
        ),
    ] = (),
    prefix: Annotated[
        str, Option(help="First letters of the names of the LaTeX commands.")
    ] = PREFIX,
    siunitx: Annotated[
        bool, Option("--siunitx", help=r"Write numbers in LaTeX as \num{...}.")
    ] = False,
) -> Result:
    r"""Write the study's numbers for a manuscript, so that it contains no typed figure.

    In LaTeX each claim is a command of letters: \FAcoverageGapFaultsUntargeted for the claim
    coverage-gap.faults.untargeted. \faNum[low]{ID} gives intervals and counts.

    Examples:

        report claims export --latex numbers.tex

        report claims export --csv numbers.csv

        report claims export --check paper.tex
    """
    require_prefix(prefix)
    if not (latex or csv or check or console.as_json):
        raise StudyError(
            "no file to write",
            "Add --latex numbers.tex, --csv numbers.csv, --check paper.tex or --json.",
        )
    claims = stored_claims(study, results)
    texts = {path: _manuscript(path) for path in check}
    written = {
        path: text
        for path, text in (
            (latex, to_latex(claims, prefix, siunitx=siunitx)),
            (csv, to_csv(claims, prefix)),
        )
        if path is not None
    }
    for path, text in written.items():
        _write(path, text)
    names = command_names((claim["claim_id"] for claim in claims), prefix)
    missing = [
        {"file": str(path), "line": line, "used": used, "near": _near(used, names)}
        for path, text in texts.items()
        for line, used in missing_numbers(text, claims, prefix)
    ]
    summary = [f"Wrote {counted(len(claims), 'number')} to {path}." for path in written]
    if texts and not missing:
        listed = ", ".join(map(str, texts))
        summary.append(f"Every number that {listed} {'uses' if len(texts) == 1 else 'use'} exists.")
    return Result(
        f"{counted(len(claims), 'number')} of the study",
        summary=tuple(summary),
        missing=tuple(map(_described, missing)),
        data={
            "claims": [{**claim, "latex": f"\\{names[claim['claim_id']]}"} for claim in claims],
            "files": [str(path) for path in written],
            "missing_numbers": missing,
        },
    )


def stored_claims(study: Study, results: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The claims of the newest results, all or those of these results; unknown ones are refused."""
    with study.reading() as reader:
        for name in results:
            provenance.latest(reader, name)
        return reader.rows(
            "SELECT claim_id, result, statement, value, unit, low, high, count, total, method, "
            "printed, status, reason, query, rows_query, run_id FROM claims "
            "WHERE len(?::VARCHAR[]) = 0 OR list_contains(?, result) ORDER BY claim_id",
            [list(results), list(results)],
        )


def _described(number: Mapping[str, Any]) -> str:
    hint = f" (did you mean {', '.join(number['near'])}?)" if number["near"] else ""
    return f"{number['file']}:{number['line']}: {number['used']} is not in the study{hint}"


def _near(used: str, names: dict[str, str]) -> list[str]:
    if used.startswith("\\"):
        return [f"\\{name}" for name in nearest(used, list(names.values()))]
    if used in names:  # LaTeX does not accept a letter of the id
        return [f"\\{names[used]}"]
    claim_id = used.partition(" [")[0]
    return [] if claim_id in names else nearest(claim_id, list(names))


def _manuscript(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise StudyError(
                f"{plain(path)} is too large to be a manuscript", "Name the .tex file."
            )
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise explained(error, path) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise explained(error, path) from error


# --- names of claims ---------------------------------------------------------------------


def require_prefix(prefix: str) -> None:
    """Refuse a prefix that no LaTeX command can have."""
    if not re.fullmatch(r"[A-Za-z]{1,20}", prefix):
        raise StudyError(
            f"{prefix!r} cannot begin the name of a LaTeX command",
            "Use letters only, at most 20: --prefix FA",
        )


def command_names(claim_ids: Iterable[str], prefix: str = PREFIX) -> dict[str, str]:
    r"""The name of each claim's command, without the backslash."""
    ids = list(dict.fromkeys(claim_ids))
    short = {claim_id: prefix + _camel(claim_id) for claim_id in ids}
    taken = Counter(short.values())
    return {
        claim_id: name if taken[name] == 1 and _is_whole(claim_id) else f"{name}{_digest(claim_id)}"
        for claim_id, name in short.items()
    }


def ambiguous_names(claim_ids: Iterable[str], prefix: str = PREFIX) -> dict[str, list[str]]:
    """The short names that several claims would have, with their claims."""
    claims: dict[str, list[str]] = {}
    for claim_id in dict.fromkeys(claim_ids):
        claims.setdefault(prefix + _camel(claim_id), []).append(claim_id)
    return {name: ids for name, ids in sorted(claims.items()) if len(ids) > 1}


def _camel(claim_id: str) -> str:
    plain = unicodedata.normalize("NFKD", claim_id).encode("ascii", "ignore").decode()
    words = [
        _DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:]
        for word in _WORD.findall(plain)
    ]
    name = "".join(words)[:_LONGEST_NAME] or "X"
    return name[0].lower() + name[1:]


def _is_whole(claim_id: str) -> bool:
    """Whether the name has all letters of the id."""
    plain = unicodedata.normalize("NFKD", claim_id).encode("ascii", "ignore").decode()
    return (
        plain == claim_id and any(map(str.isalnum, plain)) and len(_camel(claim_id)) < _LONGEST_NAME
    )


def _digest(claim_id: str) -> str:
    """Six letters, the first a capital; the same for the same id."""
    number = int.from_bytes(hashlib.sha256(claim_id.encode("utf-8", "surrogatepass")).digest()[:8])
    letters = ""
    for _ in range(6):
        number, at = divmod(number, 26)
        letters += chr(ord("a") + at)
    return letters.capitalize()


def find_claim(claim_ids: Sequence[str], meant: str, prefix: str = PREFIX) -> str:
    """The id of the claim that somebody means by its id, the start of it, or its LaTeX command."""
    if meant in claim_ids:
        return meant
    names = command_names(claim_ids, prefix)
    command = meant.removeprefix("\\").removesuffix("{}")
    by_name = [claim_id for claim_id, name in names.items() if name == command]
    fitting = by_name or [claim_id for claim_id in claim_ids if claim_id.startswith(meant)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise StudyError(
            f"{len(fitting):,} claims begin with {plain(meant)!r}",
            f"Choose one: {_listed(fitting)}",
        )
    near = nearest(meant, (*claim_ids, *names.values()))
    hint = f"Did you mean {_listed(near)}?" if near else "See them all: report claims list"
    raise StudyError(
        f"the study has no claim {plain(meant)!r}",
        hint if claim_ids else "It has none yet: run an analysis, such as analysis coverage-gap",
    )


def nearest(meant: str, known: Sequence[str]) -> list[str]:
    """The names that are spelled most like it."""
    return difflib.get_close_matches(meant.lstrip("\\"), known, n=3, cutoff=0.5)


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(plain, names[:most]))
    return f"{shown}, ..." if len(names) > most else shown


# --- LaTeX and CSV -----------------------------------------------------------------------

_PLAIN_ID = re.compile(r"[A-Za-z0-9.:+/=@_-]+")
_HEAD = r"""% Numbers of a study, written by `report claims export`: do not edit, export again.
% Read it with \input before \begin{document}. \<one>{} prints a number with its unit, as
% \<num>{ID} does; \<num>[KEY]{ID} prints one of <keys>.
\makeatletter
\newcommand{\<num>}[2][value]{%
  \@ifundefined{<num>@\detokenize{#2}@#1}{%
    \PackageError{<num>}{the study has no claim \detokenize{#2} with #1}{%
      See report claims list, and export the claims again.}\textbf{??}}{%
    \csname <num>@\detokenize{#2}@#1\endcsname}}
\newcommand{\<num>@is}[3]{\expandafter\gdef\csname <num>@\detokenize{#1}@#2\endcsname{#3}}
"""


def number_command(prefix: str = PREFIX) -> str:
    r"""The command that takes an id: `faNum`."""
    return f"{prefix.lower()}Num"


def key_of(claim_id: str, command: str) -> str:
    r"""What stands in \faNum{...}: the id, or the name of its command where LaTeX minds the id."""
    return claim_id if _PLAIN_ID.fullmatch(claim_id) else command


def to_latex(
    claims: Sequence[Mapping[str, Any]], prefix: str = PREFIX, *, siunitx: bool = False
) -> str:
    """All claims as LaTeX commands; the same bytes for the same claims."""
    ids = [claim["claim_id"] for claim in claims]
    names = command_names(ids, prefix)
    num = number_command(prefix)
    first = next(iter(names.values()), f"{prefix}someNumber")
    head = _HEAD
    for token, text in (("<one>", first), ("<num>", num), ("<keys>", ", ".join(KEYS))):
        head = head.replace(token, text)
    if siunitx:
        head = f"% Needs \\usepackage{{siunitx}}.\n{head}"
    lines = [head.rstrip("\n")]
    for claim in claims:
        name, key = names[claim["claim_id"]], key_of(claim["claim_id"], names[claim["claim_id"]])
        lines.append(f"% {_comment(claim['claim_id'])}: {_comment(claim['statement'])}")
        lines += [
            f"\\{num}@is{{{key}}}{{{field}}}{{{text}}}"
            for field, text in _fields(claim, siunitx=siunitx).items()
        ]
        lines.append(f"\\newcommand{{\\{name}}}{{\\{num}{{{key}}}}}")
    for name, several in ambiguous_names(ids, prefix).items():
        meant = " or ".join(f"\\string\\{names[claim_id]}" for claim_id in several)
        lines.append(
            f"\\newcommand{{\\{name}}}{{\\PackageError{{{num}}}{{\\string\\{name} means {meant}}}"
            "{Write one of them.}\\textbf{??}}"
        )
    return "\n".join([*lines, r"\makeatother", ""])


def to_csv(claims: Sequence[Mapping[str, Any]], prefix: str = PREFIX) -> str:
    """All claims as CSV, with the exact values."""
    names = command_names((claim["claim_id"] for claim in claims), prefix)
    rows = ({**claim, "command": f"\\{names[claim['claim_id']]}"} for claim in claims)
    return csv_text([_CSV, *([row[name] for name in _CSV] for row in rows)])


def _fields(claim: Mapping[str, Any], *, siunitx: bool) -> dict[str, str]:
    unit = claim["unit"]
    bare = "%" if formatting.is_percent(unit) else ""
    value, low, high = claim["value"], claim["low"], claim["high"]

    def typeset(text: str) -> str:
        return _typeset(text, siunitx=siunitx)

    fields = {"value": typeset(formatting.measure(value, unit))}
    if value is not None:
        fields["number"] = typeset(formatting.measure(value, bare).removesuffix(" %"))
    for name, end in (("low", low), ("high", high)):
        if end is not None:
            shown = formatting.percent(end) if bare else formatting.number(float(end))
            fields[name] = typeset(shown.removesuffix(" %"))
    if low is not None and high is not None:
        fields["interval"] = typeset(formatting.interval(low, high, unit))
    for name in ("count", "total"):
        if claim[name] is not None:
            fields[name] = typeset(formatting.count(claim[name]))
    if claim["printed"] is not None:
        fields["printed"] = typeset(formatting.printed(claim["printed"], unit))
    if claim["status"]:
        fields["status"] = tex.escape(claim["status"])
    return fields


_NUMBER = re.compile(r"(?<![\w.,-])(-?)([0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?![\w.])")


def _typeset(text: str, *, siunitx: bool) -> str:
    r"""A written number in LaTeX: with a real minus, and a thin space before the percent sign."""

    def number(written: re.Match[str]) -> str:
        if siunitx:
            return f"\\num{{{written[1]}{written[2].replace(',', '')}}}"
        mantissa, _, exponent = written[2].partition("e")
        power = f"$\\times 10^{{{int(exponent)}}}$" if exponent else ""
        return f"{'$-$' if written[1] else ''}{mantissa}{power}"

    parts = (tex.escape(part) for part in text.split(formatting.DASH))
    return "--".join(_NUMBER.sub(number, part).replace(r" \%", r"\,\%") for part in parts)


def _comment(text: str) -> str:
    """A text that ends where its line ends, in letters that every engine reads."""
    return formatting.plain(text).encode("ascii", "replace").decode()


# --- what a manuscript uses ------------------------------------------------------------


def missing_numbers(
    text: str, claims: Sequence[Mapping[str, Any]], prefix: str = PREFIX
) -> Iterator[tuple[int, str]]:
    r"""The lines of a manuscript that use a number that the study lacks, with that number.

    Commands that the manuscript defines itself and comments are skipped.
    """
    names = command_names((claim["claim_id"] for claim in claims), prefix)
    known = set(names.values())
    fields = {
        key_of(claim["claim_id"], names[claim["claim_id"]]): _fields(claim, siunitx=False).keys()
        for claim in claims
    }
    num = number_command(prefix)
    used = re.compile(
        rf"\\(?P<name>{prefix}[a-z][A-Za-z]*)|"
        rf"\\{num}(?![A-Za-z])\s*(?:\[(?P<key>[^\]]*)\])?\s*\{{(?P<id>[^{{}}]*)\}}"
    )
    own = set(re.findall(r"\\(?:(?:new|renew|provide)command\*?\s*\{?|def)\\([A-Za-z]+)", text))
    bare = re.sub(r"(?<!\\)((?:\\\\)*)%.*", r"\1", text)
    starts = [0, *(place.end() for place in re.finditer("\n", bare))]
    for use in used.finditer(bare):
        number = bisect(starts, use.start())
        name, claim_id, key = use["name"], use["id"], (use["key"] or "value").strip()
        if name is not None:
            if name not in known and name not in own and name != num:
                yield number, f"\\{name}"
        elif claim_id.strip() not in fields:
            yield number, claim_id.strip()
        elif key not in fields[claim_id.strip()]:
            yield number, f"{claim_id.strip()} [{key}]"
