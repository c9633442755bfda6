r"""A study's numbers for a manuscript: LaTeX commands, CSV, and what a manuscript lacks."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from faultatlas.data.sheets import csv_text
from faultatlas.report import formatting, latex
from faultatlas.report.claims.naming import PREFIX, ambiguous_names, command_names

# In \faNum[low]{id}; without a key it is the value with its unit.
KEYS = ("value", "number", "low", "high", "interval", "count", "total", "printed", "status")
_CSV = (
    "claim_id", "command", "statement", "value", "unit", "low", "high", "count", "total", "method",
    "printed", "status", "query", "result",
)  # fmt: skip
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
        meant = " or ".join(f"\\string\\{names[each]}" for each in several)
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

    found = {"value": typeset(formatting.measure(value, unit))}
    if value is not None:
        found["number"] = typeset(formatting.measure(value, bare).removesuffix(" %"))
    for name, end in (("low", low), ("high", high)):
        if end is not None:
            shown = formatting.percent(end) if bare else formatting.number(float(end))
            found[name] = typeset(shown.removesuffix(" %"))
    if low is not None and high is not None:
        found["interval"] = typeset(formatting.interval(low, high, unit))
    for name in ("count", "total"):
        if claim[name] is not None:
            found[name] = typeset(formatting.count(claim[name]))
    if claim["printed"] is not None:
        found["printed"] = typeset(formatting.printed(claim["printed"], unit))
    if claim["status"]:
        found["status"] = latex.escape(claim["status"])
    return found


_NUMBER = re.compile(r"(?<![\w.,-])(-?)([0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?![\w.])")


def _typeset(text: str, *, siunitx: bool) -> str:
    r"""A written number in LaTeX: with a real minus, and a thin space before the percent sign."""

    def number(found: re.Match[str]) -> str:
        if siunitx:
            return f"\\num{{{found[1]}{found[2].replace(',', '')}}}"
        mantissa, _, exponent = found[2].partition("e")
        power = f"$\\times 10^{{{int(exponent)}}}$" if exponent else ""
        return f"{'$-$' if found[1] else ''}{mantissa}{power}"

    parts = (latex.escape(part) for part in text.split(formatting.DASH))
    return "--".join(_NUMBER.sub(number, part).replace(r" \%", r"\,\%") for part in parts)


def _comment(text: str) -> str:
    """A text that ends where its line ends, in letters that every engine reads."""
    return formatting.plain(text).encode("ascii", "replace").decode()


# --- what a manuscript uses ------------------------------------------------------------


def lacking(
    text: str, claims: Sequence[Mapping[str, Any]], prefix: str = PREFIX
) -> Iterator[tuple[int, str]]:
    r"""The lines of a manuscript that use a number which the study lacks, with what they use.

    A command that the manuscript defines itself is its own; comments are passed over.
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
    for found in used.finditer(bare):
        number = bisect(starts, found.start())
        name, claim_id, key = found["name"], found["id"], (found["key"] or "value").strip()
        if name is not None:
            if name not in known and name not in own and name != num:
                yield number, f"\\{name}"
        elif claim_id.strip() not in fields:
            yield number, claim_id.strip()
        elif key not in fields[claim_id.strip()]:
            yield number, f"{claim_id.strip()} [{key}]"
