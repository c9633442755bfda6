"""The labelling page of a round, as Label Studio wants it: one XML document."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from faultatlas.annotation.bridge.page.cleaning import escaped, visible
from faultatlas.annotation.bridge.page.codebook import codebook_html
from faultatlas.annotation.bridge.page.style import style_sheet
from faultatlas.annotation.labels import NEW_CODE, SPECIAL

if TYPE_CHECKING:
    from faultatlas.annotation.labels import Stage
    from faultatlas.data.taxonomy import Node, Taxonomy

# The names that answers come back under.
ARTIFACT, CODE, CONFIDENCE, COMMENT, PROPOSED = (
    "artifact",
    "code",
    "confidence",
    "comment",
    "proposed",
)
CONFIDENCES = {"1": "1 guess", "2": "2", "3": "3", "4": "4", "5": "5 sure"}
# Between the codes of a path, inside Label Studio's tree; no code has it.
SEPARATOR = " / "

_INLINE = 'inline="true" clickableLinks="true"'  # not in a frame, which would not grow
_HINT = 400  # characters of a definition that show up over the tree


def labelling_config(
    taxonomy: Taxonomy, *, choice: str, suggestions: bool = False, stage: Stage = "independent"
) -> str:
    """The page: the artifact on the left; question, tree and codebook on the right.

    `choice` is single or multiple. What others said is shown when it is negotiated or
    adjudicated, what a model proposes only when asked for.
    """
    before = ""
    if stage != "independent":
        before += _shown("said", "What was said before, in no particular order:")
    if suggestions:
        before += _shown("suggested", "A model proposes (it may be wrong):")
    leaves = ' leafsOnly="true"' if taxonomy.select == "leaves" else ""
    once = ' maxUsages="1"' if choice == "single" else ""
    tree = "".join(_choice(node, taxonomy) for node in taxonomy.children())
    tree += "".join(
        f"<Choice value={_quoted(text.capitalize())} alias={_quoted(code)}/>"
        for code, text in SPECIAL.items()
    )
    confidences = "".join(
        f"<Choice value={_quoted(text)} alias={_quoted(value)}/>"
        for value, text in CONFIDENCES.items()
    )
    how_many = "one code" if choice == "single" else "all codes that apply"
    return f"""<View className="fa-page">
<Style>{_text(style_sheet())}</Style>
<View className="fa-text"><HyperText name="{ARTIFACT}" value="$html" {_INLINE}/></View>
<View className="fa-side">
{_static("question", f"<p><b>{escaped(taxonomy.question)}</b></p>")}
{before}<Taxonomy name="{CODE}" toName="{ARTIFACT}"{leaves}{once} required="true" \
requiredMessage={_quoted(f"Choose {how_many}, or one of the last three answers.")} \
pathSeparator="{SEPARATOR}" placeholder={_quoted(f"Choose {how_many}: click, type to search")} \
minWidth="100%" maxWidth="100%">
{tree}
</Taxonomy>
<View visibleWhen="choice-selected" whenTagName="{CODE}" whenChoiceValue="{NEW_CODE}">
<TextArea name="{PROPOSED}" toName="{ARTIFACT}" rows="1" maxSubmissions="1" editable="true" \
placeholder="Name of the new code"/>
</View>
{_static("sure", "<p><b>How sure are you?</b></p>")}
<Choices name="{CONFIDENCE}" toName="{ARTIFACT}" choice="single-radio" showInline="true">
{confidences}
</Choices>
<TextArea name="{COMMENT}" toName="{ARTIFACT}" rows="2" maxSubmissions="1" editable="true" \
showSubmitButton="false" placeholder="Comment, if there is something to say"/>
{_static("codebook", f"<h3>Codebook</h3>{codebook_html(taxonomy)}", "fa-codebook")}
</View>
</View>
"""


def _choice(node: Node, taxonomy: Taxonomy) -> str:
    below = "".join(_choice(child, taxonomy) for child in taxonomy.children(node.code))
    hint = node.definition if len(node.definition) <= _HINT else node.definition[:_HINT] + "…"
    return (
        f"<Choice value={_quoted(f'{node.code} {node.name}')} alias={_quoted(node.code)} "
        f"hint={_quoted(hint)}>{below}</Choice>"
    )


def _shown(name: str, heading: str) -> str:
    """A part of the page that comes with the task."""
    return (
        f'<View className="fa-before">{_static(f"{name}-heading", f"<p>{escaped(heading)}</p>")}'
        f'<HyperText name="{name}" value="${name}" {_INLINE}/></View>\n'
    )


def _static(name: str, html: str, class_name: str = "fa-static") -> str:
    """A part of the page that is the same for all tasks. Label Studio fills in `$name`s there."""
    html = html.replace("$", "&#36;")
    return (
        f'<View className="{class_name}">'
        f'<HyperText name="{name}" value={_quoted(html)} {_INLINE}/></View>'
    )


def _quoted(text: str) -> str:
    return quoteattr(visible(text))


def _text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
