"""Extend Sphinx: formulas without scripts, colors of pictures, and a content security policy."""

import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from docutils.writers.html5_polyglot import HTMLTranslator
from sphinx.application import Sphinx
from sphinx.util import logging

from visual.backends import dark
from visual.backends.page import source_hash
from visual.exercises.sheet import MODULE as EXERCISES
from visual.exercises.sheet import STYLE
from visual.player.page import PAGE_MODULE
from visual.player.widget import MODULE
from visual.widgets.widget import DARK_NOTEBOOK

HERE = Path(__file__).parent
# An embedded page has no sidebars and reports its height.
EMBEDDED = """if (new URLSearchParams(location.search).has("embed")) {
  document.documentElement.dataset.embedded = "";
  const tell = () => parent.postMessage({ scantape: document.body.scrollHeight }, "*");
  new ResizeObserver(tell).observe(document.body); }"""
THEMES = "\n      document.body.dataset.theme"
OURS = (EMBEDDED, MODULE, PAGE_MODULE, EXERCISES, THEMES)
SCRIPTS = re.compile(r"<script(?: type=.module.)?>(.*?)</script>", re.DOTALL)
LARGEST = 3_000_000
LOADING = ("src", "srcset", "data", "poster", "action", "formaction", "background", "href")
# The theme gives both landmarks the same label.
LANDMARKS = {"sidebar-drawer": "Site", "toc-drawer": "On this page"}
POLICY = (
    "default-src 'none'; style-src 'self' file: 'unsafe-inline'; img-src 'self' file: data:; "
    "script-src 'self' file: {}; base-uri 'none'; form-action 'self' file:"
)
CONTENTS = "\n\n```{{toctree}}\n:hidden:\n{}\n\n{}\n```\n"  # the sidebar shows this list
log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the changes of Sphinx's HTML pages, and return the properties of this extension."""
    app.add_html_math_renderer(
        "mathml", (HTMLTranslator.visit_math, HTMLTranslator.depart_math), (formula, None)
    )
    app.add_js_file(None, body=EMBEDDED, type="module")
    app.connect("builder-inited", settle)
    app.connect("source-read", adapt)
    app.connect("doctree-read", keep_secrets)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def settle(app: Sphinx) -> None:
    """Set the folder of outputs and the format of formulas, which have no settings in `conf`."""
    app.env.mystnb_config.output_folder = str(app.doctreedir / "outputs")
    app.env.settings["math_output"] = "MathML"


def adapt(app: Sphinx, name: str, source: list[str]) -> None:
    """Adapt links and hidden cells of a lesson; add a list of all pages to `index`."""
    # The gallery creates its anchors when it runs, so Sphinx cannot resolve links to them.
    text = re.sub(r"\[(\w+)\]\((gallery)\.ipynb(#\w+)\)", r'<a href="\2.html\3">\1</a>', source[0])
    text = re.sub(r"(\]\(\w+)\.ipynb\b", r"\1.md", text)
    text = text.replace(":jupyter: {source_hidden: true}", ":tags: [remove-input]")
    text = text.replace(":jupyter: {outputs_hidden: true}", ":tags: [hide-output]")
    if name == "index":
        for option, names in ((":numbered: 1", r"\d.*"), ("", r"[a-z]+|reference/index")):
            some = filter(re.compile(names).fullmatch, sorted(app.env.found_docs - {name}))
            text += CONTENTS.format(option, "\n".join(some))
    source[0] = text


def formula(translator: HTMLTranslator, node: nodes.Element) -> None:
    """Write a formula as MathML, inside an element that scrolls if the formula is wide."""
    translator.body.append("<div class='formula' tabindex='0'>")
    try:
        translator.visit_math(node)
    finally:
        translator.body.append("</div>")


def keep_secrets(_: Sphinx, document: nodes.document) -> None:
    """Exclude solutions, which are in <details>, from the search."""
    inside = False
    for part in document.findall(nodes.Element):
        if isinstance(part, nodes.raw):
            inside = "<details" in part.astext() and "</details" not in part.astext()
        elif inside:
            part["classes"].append("no-search")


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the style sheet, and add a content security policy to every page."""
    if error or app.builder.format != "html":
        return
    own = (HERE / "site.css").read_text(encoding="utf-8")
    sheet = "\n".join((DARK_NOTEBOOK, STYLE, own, dark.style()))
    (Path(app.outdir) / "_static" / "scantape.css").write_text(sheet, encoding="utf-8")
    for path in sorted(Path(app.outdir).rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        scripts = SCRIPTS.findall(page)
        if len(page.encode()) > LARGEST:
            log.warning("%s: its page has more than %s bytes", path.stem, f"{LARGEST:,}")
        for wrong in (*loads(path, page), *(s for s in scripts if not s.startswith(OURS))):
            log.warning("%s: the page contains forbidden content: %.80s", path.stem, wrong)
        path.write_text(guarded(page, scripts), encoding="utf-8")


def guarded(page: str, scripts: list[str]) -> str:
    """Return `page` with a policy that allows only `scripts` and the files of the site."""
    allowed = POLICY.format(" ".join(sorted({*map(source_hash, scripts)})))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
    for name, label in LANDMARKS.items():
        page = page.replace(f'<aside class="{name}', f'<aside aria-label="{label}" class="{name}')
    return page.replace("<head>", f"<head>\n{meta}", 1)


def loads(path: Path, page: str) -> Iterator[str]:
    """Yield the event handlers of a page, and its loads from addresses outside the site."""
    for element in BeautifulSoup(page, "html.parser").find_all(True):
        for name, value in element.attrs.items():
            is_loaded = name in LOADING and element.name != "a"
            if name.startswith("on") or (is_loaded and not is_beside(path, str(value))):
                yield f"{name}={value} of <{element.name}>"


def is_beside(path: Path, address: str) -> bool:
    """Return whether an address refers to a file of the site or to a part of the page."""
    target = re.split(r"[?#]", address)[0]
    return ":" not in target and (path.parent / target).exists()
