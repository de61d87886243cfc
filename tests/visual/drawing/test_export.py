"""The set of all pictures in a folder: files, the index page in a browser, and errors."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest
from in_browser.chromium import Opened, needs_browser, violations
from strange_loops import HOSTILE, LONG

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.backends.page import to_page
from visual.drawing.catalogue import PICTURES

ALL = ("svg", "pdf", "png", "html", "txt", "dot")
GRAPHS = {"genealogy", "stepgraph"}


def test_all_pictures_in_all_formats(tmp_path):
    loop, taps = gallery.loops["square"], {"x": (-2, -1)}
    index = visual.export(loop, tmp_path / "set", ALL, "dark", taps=taps)
    names = {path.name for path in index.parent.iterdir()}
    expected = {f"{name}.{suffix}" for name in PICTURES for suffix in ALL if suffix != "dot"}
    assert names == expected | {f"{name}.dot" for name in GRAPHS} | {"index.html"}
    for name in PICTURES:
        svg = visual.draw(loop, name, "dark", taps=taps).svg()
        assert (index.parent / f"{name}.svg").read_text(encoding="utf-8") == svg
        assert (index.parent / f"{name}.pdf").read_bytes().startswith(b"%PDF-")
        assert (index.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "digraph" in (index.parent / "genealogy.dot").read_text(encoding="utf-8")
    page = index.read_text(encoding="utf-8")
    assert set(re.findall(r'href="([^"#]+)"', page)) == names - {"index.html"}


@pytest.mark.parametrize("name", [HOSTILE, LONG, "Ωμέγα_θ̂", "%s {0}"])
def test_unusual_names_are_text(tmp_path, name):
    loop = lab.Loop(lambda **v: v[name] ** 2, (lab.State(name, 0.5),), n_steps=2, name=name)
    page = visual.export(loop, tmp_path, ("svg", "txt")).read_text(encoding="utf-8")
    assert f"<h1>Pictures of {name}</h1>" in unescape(page)
    assert name in (tmp_path / "tapes.txt").read_text(encoding="utf-8")
    ElementTree.parse(tmp_path / "tapes.svg")
    assert "<script>alert" not in page


def test_the_index_states_the_reason_for_a_missing_picture(tmp_path):
    page = visual.export(gallery.loops["square"], tmp_path, order=0).read_text(encoding="utf-8")
    assert "Not drawn: order = 0" in page
    assert not (tmp_path / "ssa.svg").exists()
    assert (tmp_path / "tapes.svg").exists()


BAD = [({"formats": ()}, "formats = []"), ({"formats": ("svg", "jpg")}, "'jpg'")]
BAD += [({"theme": "pink"}, "theme = 'pink'"), ({"order": -1}, "order = -1")]
BAD += [({"taps": {"q": (-1,)}}, "taps = 'q'"), ({"scale": 0, "formats": "png"}, "scale = 0")]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input_leaves_no_files(tmp_path, options, words):
    with pytest.raises(ArgumentError) as caught:
        visual.export(gallery.loops["square"], tmp_path / "set", **options)
    assert words in str(caught.value)
    folder = tmp_path / "set"
    assert not folder.exists() or [*folder.iterdir()] == []


def test_a_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "missing" / "set", tmp_path / "file", "\0"):
        with pytest.raises(ArgumentError, match="cannot be created"):
            visual.export(gallery.loops["square"], folder)


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_index_page_in_a_browser(browser, tmp_path, theme):
    index = visual.export(gallery.loops["rnn"], tmp_path, theme=theme, wrt="W")
    with Opened(browser, index, bypass=True) as opened:  # the policy of the page forbids scripts
        assert violations(opened.page) == []
        opened.check_quiet(tmp_path)


@needs_browser
def test_the_browser_detects_a_faulty_page(browser, tmp_path):
    page = to_page(visual.draw(gallery.loops["square"], "taps"))
    wrong = page.replace('role="region"', 'role="nonsense"', 1)
    assert wrong != page
    path = tmp_path / "wrong.html"
    path.write_text(wrong, encoding="utf-8")
    with Opened(browser, path, bypass=True) as opened:
        assert violations(opened.page)
