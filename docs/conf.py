"""How Sphinx makes a site of docs/: `make site`. Pages are Markdown as GitHub reads it, what is
shown is at hand, and any warning (a dead link, a page that nothing leads to) fails the build.
"""

from __future__ import annotations

from sphinx.application import Sphinx

from docs import navigation, outer_pages

project = "faultatlas"
author = "The faultatlas authors"
html_title = "faultatlas"

extensions = ["myst_parser"]
myst_heading_anchors = 4  # the anchors that GitHub gives to headings
smartquotes = False  # what is written is what is shown

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_use_index = False
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # it reads pages, which a browser refuses without a server
pygments_style = "default"
pygments_dark_style = "github-dark"


def setup(app: Sphinx) -> None:
    """The navigation is a file of its own, and README.md points into the pages too."""
    navigation.setup(app)
    outer_pages.setup(app)
