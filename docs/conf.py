"""How the documentation is built: `bash scripts/docs.sh`. Nothing is fetched from a network."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import command_pages

import softmodes

project = "softmodes"
author = "The softmodes developers"
copyright = "2026, the softmodes developers"
version = release = softmodes.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "gallery/*.py", "**/*.ipynb", "sg_execution_times.md"]
templates_path = ["_templates"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # files beside docs/, which GitHub links; a test looks

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections tell types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "softmodes"
html_static_path = ["_static"]
html_css_files = ["softmodes.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
}


def setup(app: object) -> None:
    """Write the pages of the command line, which its own help tells."""
    command_pages.write(Path(__file__).parent / "reference" / "commands.md")
