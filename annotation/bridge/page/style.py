"""How the labelling page looks. Everything of ours is in classes that begin with fa-."""

from __future__ import annotations

from functools import cache

from faultatlas.annotation.bridge.page.highlighting import style_sheet as highlighting_sheet

_MONO = "font-family: ui-monospace, 'DejaVu Sans Mono', monospace !important; font-size: 12.5px"
_RULES = """
.fa-page { display: flex; gap: 16px; align-items: flex-start; }
.fa-text { flex: 1 1 auto; padding: 4px 16px 24px; }
.fa-side { flex: 0 0 400px; position: sticky; top: 0; display: flex; flex-direction: column;
  max-height: calc(100vh - 130px); overflow-y: auto; }
.fa-text, .fa-side { min-width: 0; }
.fa-text, .fa-codebook, .fa-before { background: #fff; color: #1f2328; border: 1px solid #d1d9e0;
  border-radius: 6px; }
.fa-codebook, .fa-before { padding: 8px 12px; margin-top: 10px; }
.fa-codebook { flex: 1 1 auto; min-height: 180px; overflow-y: auto; }
.fa-text .htx-richtext, .fa-text .lsf-htx-richtext, .fa-side .htx-richtext,
.fa-side .lsf-htx-richtext { font-size: 14px; line-height: 1.5; overflow-wrap: anywhere; }
.fa-static { margin: 4px 0; }
.fa-static p { margin: 0; }
.fa-text h1, .fa-text h2, .fa-text h3, .fa-text h4, .fa-text h5, .fa-text h6, .fa-codebook h3 {
  font-size: 15px; font-weight: 600; margin: 12px 0 4px; line-height: 1.35; }
.fa-codebook h3 { margin-top: 0; }
.fa-text .fa-title { font-size: 19px; margin: 8px 0 4px; }
.fa-text p, .fa-text ul, .fa-text ol, .fa-text table, .fa-text blockquote { margin: 0 0 10px; }
.fa-codebook p, .fa-before p, .fa-before ul, .fa-before ol { margin: 0 0 4px; }
.fa-text ul, .fa-before ul { list-style: disc; padding-left: 24px; }
.fa-text ol, .fa-before ol { list-style: decimal; padding-left: 24px; }
.fa-text blockquote { border-left: 3px solid #d1d9e0; padding-left: 12px; color: #59636e; }
.fa-text table { display: block; overflow-x: auto; border-collapse: collapse; }
.fa-text td, .fa-text th { border: 1px solid #d1d9e0; padding: 3px 8px; text-align: left;
  overflow-wrap: normal; }
.fa-text code, .fa-text kbd, .fa-text samp, .fa-text tt, .fa-text .fa-code, .fa-text .fa-code *,
.fa-text .fa-plain, .fa-text .fa-file { MONO; }
.fa-text code, .fa-text kbd, .fa-text samp, .fa-text tt { background: #eff1f3; border-radius: 3px;
  padding: 1px 4px; }
.fa-text .fa-code { line-height: 1.45; white-space: pre; overflow: auto; max-height: 480px;
  background: #f6f8fa; border-radius: 6px; padding: 10px; margin: 0 0 10px; overflow-wrap: normal; }
.fa-text .fa-code code { background: none; padding: 0; }
.fa-text .fa-plain { white-space: pre-wrap; margin-bottom: 10px; }
.fa-text a[href] { color: #0969da; text-decoration: underline; }
.fa-text hr { border: 0; border-top: 1px solid #d1d9e0; margin: 12px 0; }
.fa-about { color: #59636e; }
.fa-tag { display: inline-block; border: 1px solid #d1d9e0; border-radius: 10px; padding: 0 8px;
  margin: 0 4px 4px 0; font-size: 12px; }
.fa-text .fa-replies { border-top: 1px solid #d1d9e0; padding-top: 10px; }
.fa-note { color: #7d4e00; background: #fff8c5; padding: 4px 8px; border-radius: 4px; }
.fa-start { color: #59636e; font-weight: 400; }
.fa-text details, .fa-codebook details { border: 1px solid #e6eaef; border-radius: 4px;
  padding: 2px 8px; margin: 0 0 6px; }
.fa-text summary, .fa-codebook summary { cursor: pointer; display: list-item; }
/* Labelling needs none of the panels for regions, and all of the width. */
.lsf-root_mode_labelstream .lsf-sidepanels__wrapper { display: none; }
.lsf-root_mode_labelstream .lsf-sidepanels { padding: 0 !important; }
@media (max-width: 1000px) { .fa-side { flex-basis: 300px; } }
@media (max-width: 760px) {
  .fa-page { flex-direction: column; align-items: stretch; }
  .fa-side { order: -1; flex-basis: auto; position: static; max-height: none; }
  .fa-codebook { flex: none; max-height: 30vh; }
}
""".replace("MONO", _MONO)


@cache
def style_sheet() -> str:
    """The sheet of the page, colours of code included."""
    return _RULES + highlighting_sheet("fa-code")
