"""The site of lessons: its pages, its links, and the errors that stop a build."""

import re
import shutil
from itertools import product

import pytest
from bs4 import BeautifulSoup
from documents import code_blocks
from sites import ROOT, STRICT, code, run_sphinx, small_site, write_lessons

import lab
import visual
from lab.loops import gallery
from visual.backends import dark as dark_colors
from visual.scene.theme import DARK, LEGIBLE, LIGHT, Role, contrast
from visual.workbench.state import open_bench
from visual.workbench.workbench import page_of

pytestmark = pytest.mark.site


def parse(path):
    """Return a parsed page, with its text in the attribute `source`."""
    page = BeautifulSoup(source := path.read_text(encoding="utf-8"), "html.parser")
    page.source = source
    return page


@pytest.fixture(scope="module")
def pages():
    return {path.name: parse(path) for path in sorted(small_site().glob("*.html"))}


def test_every_lesson_has_a_page_and_every_link_a_target(pages):
    assert list(pages) == ["01_square.html", "02_second.html", "index.html", "search.html"]
    inner = 0
    for name, page in pages.items():
        for href in [link["href"] for link in page("a", href=True)]:
            if href.startswith("https://"):
                continue
            target, _, anchor = href.partition("#")
            assert (target or name) in pages, (name, href)
            if anchor:
                assert pages[target or name].find(id=anchor), (name, href)
            inner += 1
    assert inner > 15


def test_pages_contain_the_pictures(pages):
    trace = gallery.loops["square"].trace(order=1)
    assert visual.tapes(trace).svg().strip() in pages["01_square.html"].source
    loop = gallery.loops["rnn"]
    second = pages["02_second.html"].source
    assert visual.draw(loop, "genealogy", order=2).svg().strip() in second  # of the workbench
    assert visual.values(loop.trace(order=1)).svg().strip() in second
    assert visual.draw(loop, "taps").svg().strip() in second
    title = "Genealogy of the Scans of a derivative of order 2"
    assert pages["02_second.html"].find(attrs={"aria-label": title})


def test_the_page_of_a_workbench_has_its_choices():
    loop, machine = gallery.loops["square"], {"view": "machine"}
    page = page_of(open_bench(loop).changed(**machine, cost="sum"))
    assert page.grid.loops == (loop,)
    assert (page.grid.costs, page.grid.orders) == (("sum",), (1, 2, 3))
    for chosen in ({"order": 2}, {"taps": {"x": (-2,)}}, {"steps": 3}, {"view": "taps"}):
        assert page_of(open_bench(loop).changed(**machine | chosen)) is None


def test_printed_text_is_escaped_and_in_order_without_the_code_of_questions(pages):
    page = pages["02_second.html"]
    assert page.source.count("0.81 is.") == 1  # in the data that checks the answer
    assert "0.81 is." not in page.text
    assert "<script>alert" not in page.source
    assert "a < b & c <script>alert(1)</script>" in page.text
    order = ["{'a': 1}", "ArgumentError: n_steps = -1", "Taps of h, x"]
    order += ["a line between two pictures", "1 · coupled"]
    positions = [page.text.rindex(words) for words in order]
    assert positions == sorted(positions)


TRUSTED = "class A:\n  def _repr_html_(self):\n    return '{}'\nA()"
FAILED = r"Executing notebook failed: CellExecutionError(?s:.*?)--\n{}\n--(?s:.*?){}"
LOADS = "the page contains forbidden content: "
STOPS = {
    "error": (code("1 / 0"), FAILED.format("1 / 0", "ZeroDivisionError")),
    "names": (code("other"), FAILED.format("other", "NameError")),
    "a_link": ("[x](03_nowhere.md)", "target not found: '03_nowhere.md'"),
    "an_anchor": ("[x](index.md#nowhere)", "'nowhere'"),
    "image": ("![x](https://example.org/x.png)", LOADS + "src=https://example.org/x.png"),
    "image_of_none": ("![x](x.png)", "image file not readable: x.png"),
    "formula": (r"A $\unheardof{x}$ one", r"Unknown LaTeX command .*unheardof"),
    "raw_image": ('<p><img src="y.png"></p>', LOADS + "src=y.png of <img>"),
    "raw_handler": ('<p onclick="f()">x</p>', re.escape(LOADS + "onclick=f() of <p>")),
    "raw_script": ("<script src='x.js'></script>", LOADS + "src=x.js of <script>"),
    "raw_code": ("<script>eval(1)</script>", re.escape(LOADS + "eval(1)")),
    "html_of_cells": (code(TRUSTED.format("<img src=z>")), LOADS + "src=z of <img>"),
    "size": (code(TRUSTED.format("<p>' + 'x ' * 1_500_000 + '</p>")), "more than 3,000,000 bytes"),
}  # fmt: skip


@pytest.fixture(scope="module")
def failed_build(tmp_path_factory):
    """Return the messages of a build with faulty lessons, and the folder of the site.

    One lesson is correct: the example in CONTRIBUTING.
    """
    folder = tmp_path_factory.mktemp("wrong")
    (example,) = code_blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "markdown")
    sources = {name: source for name, (source, _) in STOPS.items()}
    lessons = write_lessons(folder / "lessons", aaa=code("other = 1"), **sources)
    (lessons / "11_one_step.md").write_text(example, encoding="utf-8")
    (lessons / "untitled.md").write_text("No title here.\n")
    result = run_sphinx(lessons, folder / "site", *STRICT)
    assert result.returncode == 1, result.stderr
    return result.stderr, folder / "site"


@pytest.mark.parametrize("name", STOPS)
def test_a_faulty_lesson_stops_the_build(failed_build, name):
    assert re.search(rf"\b{name}(\.md)?:.*{STOPS[name][1]}", failed_build[0])


def test_only_faulty_lessons_stop_the_build(failed_build):
    assert re.search("document 'untitled' that doesn't have a title", failed_build[0])
    assert not re.search("aaa|one_step", failed_build[0])
    page = (failed_build[1] / "11_one_step.html").read_text(encoding="utf-8")
    assert "data-exercises" in page


@pytest.fixture(scope="module")
def draft(tmp_path_factory):
    """Build a site with a reference, without the option that turns warnings into errors."""
    folder = tmp_path_factory.mktemp("draft")
    lessons = shutil.copytree(ROOT / "tests" / "site" / "draft", folder / "lessons")
    result = run_sphinx(lessons, folder / "site")
    assert result.returncode == 0, result.stderr
    return folder


def test_two_builds_of_the_same_lessons_have_the_same_bytes(draft, tmp_path):
    """One build has a single process, the other two processes; each lesson has a new kernel."""
    result = run_sphinx(draft / "lessons", tmp_path / "site", "-j", "2")
    assert result.returncode == 0, result.stderr
    files = [path.relative_to(draft) for path in (draft / "site").rglob("*.*")]
    assert {"first.html", "progress.html", "searchindex.js"} <= {path.name for path in files}
    kernel = rb"ipykernel_\d+"  # a warning contains a process ID, which differs between builds
    for path in files:
        first, second = (re.sub(kernel, b"", (f / path).read_bytes()) for f in (draft, tmp_path))
        assert first == second, path


def test_a_draft_has_open_links_but_no_progress_and_leaves_no_files(draft):
    assert ">later</span>" in (draft / "site" / "first.html").read_text()
    assert {p.stem for p in (draft / "lessons").glob("*.*")} == {"first", "index", "progress"}
    text = parse(draft / "site" / "progress.html").text.partition("3;")[2]
    assert re.search(r"^\s*done\n(.*UserWarning: beware\n)", text, re.DOTALL)
    assert "50%" not in text


def test_the_reference_contains_a_function_of_the_lessons(draft):
    page = parse(draft / "site" / "reference" / "index.html")
    assert " ".join(lab.check.compare.__doc__.split())[:40] in " ".join(page.text.split())
    assert page.find(id="lab.checks.check.compare")
    assert page.find(href="../index.html")
    assert parse(draft / "site" / "index.html").find(href="reference/index.html")


def test_the_reference_names_everything_that_is_exported():
    text = "".join(path.read_text() for path in (ROOT / "notebooks" / "reference").glob("*.md"))
    for name in ("lab", "lab.eager", "lab.structural", "lab.checks.check", "lab.errors", "visual"):
        assert f".. automodule:: {name}\n" in text


def test_every_light_color_of_a_scene_has_a_dark_color():
    known = {light for _, _, light in dark_colors.dark_colors()}
    for name in ("rnn", "coupled", "undefined"):
        for kind in ("tapes", "unrolled", "phases", "taps"):
            svg = visual.draw(gallery.loops[name], kind).svg()
            assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', svg)) <= known, (name, kind)


def test_dark_letters_are_legible_on_dark_boxes():
    dark = dark_colors.dark_colors()
    for role, faded in product(Role, (False, True)):
        light, dark_look = LIGHT.look(role, faded), DARK.look(role, faded)
        letters = dark[dark_colors.LETTERS, "fill", light.text]
        minimum = min(LEGIBLE, contrast(dark_look.text, dark_look.fill))
        assert contrast(letters, dark[dark_colors.BOX, "fill", light.fill]) >= minimum, role
