"""The file of a notebook contains outputs in a format for each front end.

With a kernel, JupyterLab shows a widget. Visual Studio Code and Colab show the HTML in a separate
frame. Static viewers show an image.
"""

import io
import re
from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup
from nbclient import NotebookClient
from PIL import Image
from sites import ROOT

LIVE = "application/vnd.jupyter.widget-view+json"
LOADING = ("src", "srcset", "data", "poster", "href", "xlink:href")
NOTEBOOK = jupytext.read(Path(__file__).with_name("outputs.md"))
CELLS = [cell.source for cell in NOTEBOOK.cells]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory, local_kernels):
    """Return the output of a kernel for each cell, by the source of the cell."""
    folder = tmp_path_factory.mktemp("outputs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(ROOT))
        patched.delenv("SCANTAPE_STATIC", raising=False)
        options = {"resources": {"metadata": {"path": folder}}, "config": local_kernels}
        NotebookClient(NOTEBOOK, startup_timeout=600, timeout=300, **options).execute()
    size = len(nbformat.writes(NOTEBOOK).encode())
    assert size < 2_000_000, size
    return {cell.source: dict(cell.outputs[-1].data) for cell in NOTEBOOK.cells[1:]}


def problems(bundle):
    """Yield the faults of a bundle, in words."""
    still = BeautifulSoup(bundle.get("text/html", ""), "html.parser")
    yield from (f"{kind} is empty" for kind, content in bundle.items() if not content)
    yield from ("a bare object" for content in bundle.values() if "object at 0x" in str(content))
    if "text/html" in bundle and not (still.svg and still.text.strip()):
        yield "nothing is seen without a script"
    loads = (
        e[name] for name in LOADING for e in still.find_all(attrs={name: True}) if e.name != "a"
    )
    yield from (f"it loads {address}" for address in loads if not address.startswith("#"))
    if "image/svg+xml" in bundle:
        root = ElementTree.fromstring(bundle["image/svg+xml"])
        linked = [v for e in root.iter() for k, v in e.items() if k.rpartition("}")[2] == "href"]
        loaded = re.findall(r"url\((?!#)[^)]*|@import", bundle["image/svg+xml"])
        yield from (f"the picture loads {address}" for address in (*linked, *loaded))
        yield from ("a script in the picture" for e in root.iter() if e.tag.endswith("script"))
    if bundle.get("image/png"):
        with Image.open(io.BytesIO(b64decode(bundle["image/png"]))) as image:
            if abs(image.width - float(root.get("width"))) > 1:
                yield "the images differ"


@pytest.mark.parametrize("cell", CELLS[1:])
def test_every_output_has_real_content_of_all_kinds(bundles, cell):
    bundle = bundles[cell]
    if "system" in cell:
        expected = {"text/latex"}
    elif re.search("machine|Workbench|Exercise", cell):
        expected = {LIVE, "text/html", "image/svg+xml", "image/png"}
    else:
        expected = {"text/html", "image/svg+xml"}
    assert bundle.keys() == {*expected, "text/plain"}
    is_active = LIVE in bundle and "Workbench" not in cell  # its view is a picture
    assert is_active == ('<script type="module">' in bundle.get("text/html", ""))
    assert [*problems(bundle)] == []
    assert len(bundle["text/plain"]) > 20


@pytest.mark.parametrize(
    ("kind", "content", "fault"),
    [
        ("text/plain", "<visual.Machine object at 0x7f>", "a bare object"),
        ("text/html", "<script>draw()</script><div></div>", "nothing is seen"),
        ("text/html", "<svg></svg><p>x</p><img src='https://x.org/a.png'>", "it loads"),
        ("image/svg+xml", "<svg width='1'><script/></svg>", "a script"),
        ("image/svg+xml", "<svg width='1'/>", "the images differ"),
        ("image/svg+xml", "<svg width='1'><image href='b.png'/></svg>", "the picture loads"),
        ("image/png", "", "is empty"),
    ],
)
def test_a_faulty_output_is_detected(bundles, kind, content, fault):
    bundle = {**bundles[CELLS[4]], kind: content}
    assert any(fault in problem for problem in problems(bundle))
