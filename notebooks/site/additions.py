"""What Sphinx lacks: formulas without scripts, pictures that are walked through, a strict policy."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import colours
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

from visual.exercises.page import STYLE
from visual.widgets.module import STEPPER, style

HERE = Path(__file__).parent
LARGEST = 3_000_000
LOADING = ("src", "srcset", "data", "poster", "action", "formaction", "background", "href")
POLICY = (
    "default-src 'none'; style-src 'self' file: 'unsafe-inline'; img-src 'self' file: data:; "
    "script-src 'self' file: {}; base-uri 'none'; form-action 'self' file:"
)
CONTENTS = "\n\n## All lessons\n\n```{{toctree}}\n:glob:\n:maxdepth: 2\n\n*\n{}```\n"
log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("source-read", adapt)
    app.connect("doctree-read", check_errors)
    app.connect("autodoc-process-signature", shorten)
    app.connect("html-page-context", enliven)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def adapt(app: Sphinx, name: str, source: list[str]) -> None:
    """Read a lesson as JupyterLab does: links to notebooks, hidden code; `index` lists them all."""
    text = re.sub(r"(\]\(\w+)\.ipynb\b", r"\1.md", source[0])
    text = text.replace(":jupyter: {source_hidden: true}", ":tags: [hide-input]")
    if name == "index":
        text += CONTENTS.format("reference/index\n" * (Path(app.srcdir) / "reference").exists())
    source[0] = text


def formula(translator: Any, node: nodes.Element) -> None:
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
        errors = [part for part in cell.findall(nodes.literal_block) if "traceback" in part["classes"]]
        if bool(errors) != may_fail:
            told = errors[0].astext().strip().splitlines()[-1] if errors else "no error"
            about = f"cell {cell['cell_index'] + 1}: {told}\n\n{cell.children[0].astext()}"
            log.warning(about, location=cell)


def shorten(*about: Any) -> tuple[str | None, ...]:
    """Signatures without the modules of types."""
    return tuple(part and re.sub(r"~?(\w+\.)+(?=\w)", "", part) for part in about[-2:])


def enliven(app: Sphinx, _: str, __: str, context: dict[str, Any], ___: Any) -> None:
    """Bring the pictures of a page to life that come without a script."""
    if "data-scantape" in context.get("body", ""):
        context["body"] += f'<script type="module">{STEPPER}</script>'


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the style of pictures and exercises, and guard every page."""
    if error or app.builder.format != "html":
        return
    own = (HERE / "site.css").read_text(encoding="utf-8")
    sheet = "\n".join((style(), STYLE, own, colours.style()))
    (Path(app.outdir) / "_static" / "scantape.css").write_text(sheet, encoding="utf-8")
    for path in sorted(Path(app.outdir).rglob("*.html")):
        page = path.read_text(encoding="utf-8")
        for wrong in found(page):
            log.warning("%s: its page %s", path.stem, wrong)
        path.write_text(guarded(page), encoding="utf-8")


def guarded(page: str) -> str:
    """The page under a policy that allows files beside it, and the scripts that it has now."""
    scripts = re.findall(r"<script(?: type=.module.)?>(.*?)</script>", page, flags=re.DOTALL)
    hashes = {b64encode(sha256(script.encode()).digest()).decode() for script in scripts}
    allowed = POLICY.format(" ".join(f"'sha256-{made}'" for made in sorted(hashes)))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
    return re.sub(r"<head>", f"<head>\n{meta}", page, count=1)


def found(page: str) -> Iterator[str]:
    """What is wrong with a page: it is too large, or would load or run what is not its own."""
    if len(page.encode()) > LARGEST:
        yield f"has {len(page.encode()):,} bytes; {LARGEST:,} are allowed"
    parser = _Loads()
    parser.feed(page)
    yield from parser.found


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_foreign = name in LOADING and re.match(r"\w+:|//", value or "")
            if name.startswith("on") or (is_foreign and tag != "a"):
                self.found.append(f"would load or do what it may not: {name}= of <{tag}>")
