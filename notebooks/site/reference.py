"""The reference, from docstrings: pages of pdoc, without scripts, that load nothing."""

import importlib
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from leaf import check, coloured

from visual.backends.page import policy

FOLDER, HERE = "api", Path(__file__).parent / "reference"
# What lessons use.  Functions of lab.eager.np are numpy's, and so are their docstrings.
MODULES = (
    "lab",
    "lab.checks.check",
    "lab.eager",
    "lab.errors",
    "lab.loops.gallery",
    "lab.structural",
    "lab.tape",
    "lab.traces.trace",
    "visual",
)


def build_reference(out: Path, modules: Sequence[str] = MODULES) -> str:
    """Write the reference of `modules` into the site `out`; returns where it begins there."""
    import pdoc

    for name in modules:
        _load(name)
    pdoc.render.configure(
        docformat="markdown", search=False, show_source=False, template_directory=HERE
    )
    with warnings.catch_warnings():
        # Annotations of what is imported only to check types cannot be looked up.
        warnings.filterwarnings("ignore", category=UserWarning, module="pdoc")
        # A package brings its modules along, which are taken out again: what they have for
        # users, the package has as well.
        brought = [f"!{name}" for name in pdoc.extract.walk_specs(modules) if name not in modules]
        pdoc.pdoc(*modules, *brought, output_directory=out / FOLDER)
    for path in sorted((out / FOLDER).rglob("*.html")):
        page = _guarded(path.read_text(encoding="utf-8"))
        path.write_text(check(str(path.relative_to(out)), page), encoding="utf-8")
    return f"{FOLDER}/index.html"


def _load(name: str) -> None:
    """Make what a module imports only when it is asked for a part of it."""
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        vars(module).setdefault(public, getattr(module, public))


def _guarded(page: str) -> str:
    """The page under a policy that allows its own styles, by their hashes, and nothing else."""
    colours = f"<style>{coloured('.pdoc .pdoc-code')}</style>\n</head>"
    page = page.replace("</head>", colours, 1)
    # What scrolls must be reachable by keyboard, and a link must say where it leads.
    page = page.replace('codehilite">\n<pre>', 'codehilite">\n<pre tabindex="0">')
    page = re.sub(r'<a class="headerlink" href="#([^"]*)">', r"\g<0><span>\1</span>", page)
    styles = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(styles)}">'
    return page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n    {meta}', 1)
