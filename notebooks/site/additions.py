"""What Sphinx lacks: formulas without scripts, pictures walked through, a strict policy."""

import re
from html.parser import HTMLParser
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from visual.atlas.page import module as atlas_module
from visual.backends import dark
from visual.backends.page import hashed
from visual.exercises.page import STYLE, source
from visual.lessons.slides import slides
from visual.widgets.module import STEPPER, style

HERE = Path(__file__).parent
UNSEARCHED = "no-search"
# In another's page, a page has no sidebars, and tells its height.
EMBEDDED = """if (new URLSearchParams(location.search).has("embed")) {
  document.documentElement.dataset.embedded = "";
  const tell = () => parent.postMessage({ scantape: document.body.scrollHeight }, "*");
  new ResizeObserver(tell).observe(document.body); }"""
TALK = "01_loop"  # of which there are slides
THEMES = "\n      document.body.dataset.theme"
OURS = (EMBEDDED, STEPPER, atlas_module(), source(), THEMES)
SCRIPTS = re.compile(r"<script(?: type=.module.)?>(.*?)</script>", re.DOTALL)
LARGEST = 3_000_000
LOADING = ("src", "srcset", "data", "poster", "action", "formaction", "background", "href")
LANDMARKS = {"sidebar-drawer": "Site", "toc-drawer": "On this page"}  # the theme has two alike
POLICY = (
    "default-src 'none'; style-src 'self' file: 'unsafe-inline'; img-src 'self' file: data:; "
    "script-src 'self' file: {}; base-uri 'none'; form-action 'self' file:"
)
CONTENTS = "\n\n```{{toctree}}\n:hidden:\n{}\n\n{}\n```\n"  # for the sidebar
log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("builder-inited", keep_aside)
    app.connect("source-read", adapt)
    app.connect("doctree-read", check_errors)
    app.connect("doctree-read", keep_secrets)
    app.connect("autodoc-process-signature", shorten)
    app.connect("html-page-context", enliven)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def keep_aside(app: Sphinx) -> None:
    """Files that MyST-NB makes of outputs lie with Sphinx's own, not beside the site."""
    app.env.mystnb_config.output_folder = str(app.doctreedir / "outputs")


def adapt(app: Sphinx, name: str, source: list[str]) -> None:
    """Read a lesson as JupyterLab does: links to notebooks, no hidden code; `index` lists all."""
    # Anchors of the gallery are made when it is run, so that no one else knows them.
    text = re.sub(r"\[(\w+)\]\((gallery)\.ipynb(#\w+)\)", r'<a href="\2.html\3">\1</a>', source[0])
    text = re.sub(r"(\]\(\w+)\.ipynb\b", r"\1.md", text)
    text = text.replace(":jupyter: {source_hidden: true}", ":tags: [remove-input]")
    if name == "index":
        folder = Path(app.srcdir)
        names = sorted(path.stem for path in folder.glob("*.md") if path.stem != name)
        lessons = [one for one in names if one[0].isdigit()]
        others = [one for one in names if not one[0].isdigit()]
        others += ["reference/index"] * (folder / "reference").exists()
        for numbered, some in ((":numbered: 1", lessons), ("", others)):
            text += CONTENTS.format(numbered, "\n".join(some)) * bool(some)
    source[0] = text


def formula(translator: HTML5Translator, node: nodes.Element) -> None:
    """LaTeX as MathML, which browsers draw themselves."""
    is_block = isinstance(node, nodes.math_block)
    latex = node.astext().strip().removeprefix(r"\displaystyle").replace(r"\dots", r"\ldots")
    try:
        made = tex2mathml(latex, as_block=is_block)
    except MathError as error:
        log.warning("the formula %r cannot be converted: %s", latex, error, location=node)
        made = ""
    translator.body.append(f"<div class='formula' tabindex='0'>{made}</div>" if is_block else made)
    raise nodes.SkipNode


def check_errors(_: Sphinx, document: nodes.document) -> None:
    """Warn of a cell that fails, or of one that should and does not."""
    for cell in document.findall(nodes.container):
        if cell.get("nb_element") != "cell_code":
            continue
        may_fail = "raises-exception" in cell["cell_metadata"].get("tags", ())
        errors = [
            part for part in cell.findall(nodes.literal_block) if "traceback" in part["classes"]
        ]
        if bool(errors) != may_fail:
            told = errors[0].astext().strip().splitlines()[-1] if errors else "no error"
            about = f"cell {cell['cell_index'] + 1}: {told}\n\n{cell.children[0].astext()}"
            log.warning(about, location=cell)


def keep_secrets(_: Sphinx, document: nodes.document) -> None:
    """Solutions, in <details>, cannot be searched for."""
    inside = False
    for part in document.findall(nodes.Element):
        if isinstance(part, nodes.raw):
            inside = "<details" in part.astext() and "</details" not in part.astext()
        elif inside:
            part["classes"].append(UNSEARCHED)


def shorten(*about: str | None) -> tuple[str | None, ...]:
    """Signatures as Python that can be read: defaults that are none are left out."""
    return tuple(part and re.sub(r"<.*?>", "...", part) for part in about[-2:])


def enliven(app: Sphinx, _: str, __: str, context: dict[str, str], ___: object) -> None:
    """Bring the pictures of a page to life that come without a script."""
    context["body"] = f"{context.get('body', '')}<script>{EMBEDDED}</script>"
    if "data-scantape" in context["body"]:
        context["body"] += f'<script type="module">{STEPPER}</script>'


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the style of pictures and exercises, and guard every page."""
    if error or app.builder.format != "html":
        return
    own = (HERE / "site.css").read_text(encoding="utf-8")
    sheet = "\n".join((style(), STYLE, own, dark.style()))
    (Path(app.outdir) / "_static" / "scantape.css").write_text(sheet, encoding="utf-8")
    talk, lesson = Path(app.outdir) / f"slides_{TALK}.html", Path(app.srcdir) / f"{TALK}.md"
    for path in sorted({*Path(app.outdir).rglob("*.html")} - {talk}):
        page = path.read_text(encoding="utf-8")
        scripts = SCRIPTS.findall(page)
        if len(page.encode()) > LARGEST:
            log.warning("%s: its page has more than %s bytes", path.stem, f"{LARGEST:,}")
        for wrong in (*Loads(path, page).found, *(s for s in scripts if not s.startswith(OURS))):
            log.warning("%s: its page would load or do what it may not: %.80s", path.stem, wrong)
        path.write_text(guarded(page, scripts), encoding="utf-8")
    if lesson.exists():
        page = slides(lesson)
        talk.write_text(guarded(page, SCRIPTS.findall(page)), encoding="utf-8")


def guarded(page: str, scripts: list[str]) -> str:
    """The page under a policy that allows these scripts, and files beside it."""
    allowed = POLICY.format(" ".join(sorted({*map(hashed, scripts)})))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
    for name, label in LANDMARKS.items():
        page = page.replace(f'<aside class="{name}', f'<aside aria-label="{label}" class="{name}')
    return page.replace("<head>", f"<head>\n{meta}", 1)


class Loads(HTMLParser):
    """Finds what a page would load that does not lie beside it, and handlers of events."""

    def __init__(self, path: Path, page: str) -> None:
        super().__init__()
        self.folder = path.parent
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the attributes of an element."""
        for name, value in attrs:
            is_loaded = name in LOADING and tag != "a"
            if name.startswith("on") or (is_loaded and not self._is_beside(value or "")):
                self.found.append(f"{name}={value} of <{tag}>")

    def _is_beside(self, address: str) -> bool:
        target = re.split(r"[?#]", address)[0]
        return ":" not in target and (self.folder / target).exists()
