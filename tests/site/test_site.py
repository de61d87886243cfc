"""The site of lessons: what is on its pages, where they link, and what stops the building."""

import importlib
import re
import runpy
from html.parser import HTMLParser
from pathlib import Path

import colours
import pytest
from building import build
from lesson import SiteError, read
from reference import MODULES, build_reference
from running import Printed, run
from showing import atlas_of
from sites import ROOT, code, small_site, written

import lab
import visual
from lab.loops import gallery
from visual.backends.svg import text
from visual.scene.theme import DARK, LEGIBLE, LIGHT, Role, contrast


class Page(HTMLParser):
    """The attributes of a page's elements, and its text without scripts and styles."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.found, self.words, self._inside = [], [], ""
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.words.append(data)

    def all(self, name):
        return [attrs[name] for _, attrs in self.found if name in attrs]

    @property
    def text(self):
        return "".join(self.words)


@pytest.fixture(scope="module")
def pages():
    return {path.name: Page(path) for path in sorted(small_site().iterdir())}


def test_every_lesson_has_a_page(pages):
    assert list(pages) == ["01_square.html", "02_second.html", "index.html"]
    assert all(len(page.source.encode()) < 3_000_000 for page in pages.values())


def test_pages_link_to_one_another(pages):
    def way(name, rel):
        return [a["href"] for tag, a in pages[name].found if tag == "a" and a.get("rel") == rel]

    assert way("01_square.html", "next") == ["02_second.html"]
    assert way("01_square.html", "prev") == []
    assert way("02_second.html", "prev") == ["01_square.html"]
    assert all("index.html" in page.all("href") for page in pages.values())


def test_every_link_leads_somewhere(pages):
    inner = 0
    for name, page in pages.items():
        for href in page.all("href"):
            if href.startswith("https://"):
                continue
            target, _, anchor = href.partition("#")
            assert (target or name) in pages, (name, href)
            if anchor:
                assert anchor in pages[target or name].all("id"), (name, href)
            inner += 1
    assert inner > 15


def test_anchors_are_there_once(pages):
    for page in pages.values():
        found = page.all("id")
        assert len(found) == len(set(found))


def test_the_contents_list_lessons_and_headings(pages):
    linked = pages["index.html"].all("href")
    assert "01_square.html#your-turn" in linked
    assert "02_second.html#a-workbench" in linked
    assert linked.index("01_square.html") < linked.index("02_second.html#text")


def test_pictures_are_those_of_the_tool(pages):
    trace = gallery.loops["square"].trace(order=1)
    assert visual.tapes(trace).svg().strip() in pages["01_square.html"].source
    loop = gallery.loops["rnn"]
    second = pages["02_second.html"].source
    assert visual.draw(loop, "genealogy", order=2).svg().strip() in second  # of the workbench
    for theme in ("light", "dark"):
        assert visual.values(loop.trace(order=1), theme).svg().strip() in second
    for kind in ("unrolled", "tapes", "taps"):
        assert visual.draw(loop, kind).svg().strip() in second


def test_a_workbench_is_what_can_be_chosen_without_python():
    loop = gallery.loops["square"]
    atlas = atlas_of(visual.Workbench(loop, view="taps", cost="sum"))
    assert atlas.loops == (loop,)
    assert (atlas.views[0], atlas.costs, atlas.orders) == ("taps", ("sum",), (1, 2))
    for chosen in ({"order": 2}, {"taps": {"x": (-2,)}}, {"steps": 3}, {"at": {"x": 0.5}}):
        assert atlas_of(visual.Workbench(loop, **chosen)) is None


def test_the_code_of_a_question_does_not_give_its_answer_away(pages):
    source = pages["02_second.html"].source
    asked = source.index("Is x**2 at 0.9 smaller than 0.9?")
    folded = source.index('<details class="spoiler">')
    assert asked < folded < source.index("0.81 is.")
    assert "0.81 is" not in pages["index.html"].source  # nor can it be searched for


def test_what_is_printed_is_escaped_and_in_order(pages):
    page = pages["02_second.html"]
    assert "<script>alert" not in page.source
    assert "a < b & c <script>alert(1)</script>" in page.text
    order = ["{'a': 1}", "ArgumentError: n_steps = -1", "Taps of x, h", "between", "1 · coupled"]
    places = [page.text.rindex(words) for words in order]
    assert places == sorted(places)


def test_the_numbers_that_a_lesson_prints(pages):
    value = 0.95**16
    assert f"{0.44012666865176564} " in pages["01_square.html"].text
    assert value == pytest.approx(0.44012666865176564, rel=1e-15)


def test_prose_is_what_markdown_says(pages):
    source = pages["02_second.html"].source
    assert re.search(r"<td><code>number</code></td>\s*<td>what is <em>written</em></td>", source)
    assert "<details><summary>One solution</summary>" in source
    assert re.search(r'<span class="k">def</span>.*<span class="nf">step</span>', source)
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mrow>' in source
    assert "&amp;" not in re.search(r'class="formula".*?</math>', source, re.DOTALL)[0]
    assert re.search(r'<section class="footnotes">.*<em>tapestry</em>', source, re.DOTALL)


def test_the_same_lessons_give_the_same_bytes(tmp_path):
    lessons = written(tmp_path, first=code("import visual, lab.loops.gallery\nvisual.figure(1)"))
    pages = [build(lessons, tmp_path / name) for name in ("a", "b")]
    first, second = ([path.read_bytes() for path in found] for found in pages)
    assert first == second


def test_long_lines_are_broken_and_only_pictures_of_moderate_width_are_fitted(tmp_path):
    small = code("import visual, lab.loops.gallery\nprint('x' * 108)\nvisual.figure(1)")
    large = "visual.tapes(lab.gallery.loops['fibonacci'].with_steps(40).trace())"
    wide = code(f"print('y' * 109)\n{large}")
    build(written(tmp_path, first=f"{small}\n\n{wide}"), tmp_path / "site")
    page = Page(tmp_path / "site" / "first.html")
    kinds = {kind for tag, found in page.found if tag == "pre" and (kind := found["class"])}
    assert kinds == {"code", "printed", "printed wrapped"}
    assert re.search('<pre class="printed wrapped"[^>]*>y', page.source)
    sizes = [found["class"] for _, found in page.found if "picture" in found.get("class", "")]
    assert sizes == ["picture light", "picture light vast"]


def test_each_lesson_has_its_own_names(tmp_path):
    lessons = written(tmp_path, first=code("x = 1"), second=code("x"))
    with pytest.raises(SiteError, match=r"^second\.md, cell 2: NameError"):
        build(lessons, tmp_path / "site")


STOPS = {
    "an error": (code("1 / 0"), r"cell 2: ZeroDivisionError: division by zero\n\n1 / 0"),
    "bad syntax": (code("1 +"), "cell 2: SyntaxError"),
    "no error": (code("1", ":tags: [raises-exception]\n\n"), "cell 2: it should fail"),
    "link": ("[x](03_nowhere.md)", r"cell 1: the link to '03_nowhere\.md' leads nowhere"),
    "image": ("![x](https://example.org/x.png)", "cell 1: 'https://example.org/x.png' is no SVG"),
    "formula": (r"A $\unheardof{x}$ one", "cell 1: the formula .*unheardof"),
    "raw image": ('<p><img src="x.png"></p>', "<img>"),
    "raw style": ('<p style="color:red">x</p>', "style= of <p>"),
    "raw handler": ('<p onclick="f()">x</p>', "onclick= of <p>"),
    "raw script": ("<script src='x.js'></script>", "src= of <script>"),
    "html of ours": (
        code("class A:\n  def _repr_mimebundle_(self):\n    return {'text/html': '<img src=x>'}\n"
             "A.__module__ = 'lab.a'\nA()"),
        "<img>",
    ),
    "size": (code("print('x' * 3_000_000)"), "3,000,000 are allowed"),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPS)
def test_what_stops_the_building(tmp_path, name):
    source, words = STOPS[name]
    with pytest.raises(SiteError, match=rf"(?s)^wrong\.md\b.*{words}"):
        build(written(tmp_path, wrong=source), tmp_path / "site")
    assert not list((tmp_path / "site").glob("wrong.html"))


def test_a_draft_may_link_to_what_is_not_written_yet(tmp_path):
    build(written(tmp_path, first="[later](02_later.md)"), tmp_path / "site", draft=True)
    assert '<a href="#">later</a>' in (tmp_path / "site" / "first.html").read_text()


def test_a_lesson_needs_a_title_and_a_folder_a_lesson(tmp_path):
    (tmp_path / "odd.md").write_text("No title here.\n")
    with pytest.raises(SiteError, match=r"odd\.md: no cell begins with a title"):
        build(tmp_path, tmp_path / "site")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SiteError, match="there is no lesson"):
        build(tmp_path / "empty", tmp_path / "site")


def test_html_of_others_is_not_trusted(tmp_path):
    source = (
        "class A:\n  def _repr_html_(self):\n    return '<b>bold</b>'\n  __repr__ = lambda s: '<A>'"
    )
    build(written(tmp_path, first=code(f"{source}\nA()")), tmp_path / "site")
    page = Page(tmp_path / "site" / "first.html")
    assert "&lt;A&gt;" in page.source
    assert "<b>bold" not in page.source


def test_lessons_leave_no_files_and_progress_is_not_shown(tmp_path):
    source = (
        "import sys, warnings, pathlib\npathlib.Path('x.txt').touch()\nprint('50%', end='\\r')\n"
        "print('done', file=sys.stderr)\nwarnings.warn('beware')\n3;"
    )
    lesson = read(written(tmp_path, first=code(source)) / "first.md")
    before = set(Path.cwd().iterdir())
    (shown,) = run(lesson)[2]
    assert set(Path.cwd().iterdir()) == before
    assert isinstance(shown, Printed)
    assert shown.text.startswith("done\n")
    assert shown.text.endswith("UserWarning: beware\n")
    assert "50%" not in shown.text


def test_the_command_names_what_is_wrong(tmp_path, capsys):
    main = runpy.run_path(str(ROOT / "notebooks" / "site" / "__main__.py"))["main"]
    out = ["--no-reference", "--out", str(tmp_path / "site"), "--lessons", str(tmp_path)]
    written(tmp_path, first=code("1 + 1"))
    assert main(out) == 0
    assert capsys.readouterr().out.startswith("2 pages in ")
    written(tmp_path, wrong=code("1 / 0"))
    assert main(out) == 1
    told = capsys.readouterr().err
    assert told.startswith("The site was not built. wrong.md, cell 2: ZeroDivisionError")


def test_the_reference_has_what_lessons_use(tmp_path):
    where = build_reference(tmp_path, ("lab.checks.check",))
    assert {path.name for path in (tmp_path / "api").rglob("*.html")} == {
        "index.html",
        "check.html",
    }
    page = Page(tmp_path / "api" / "lab" / "checks" / "check.html")
    assert " ".join(lab.check.compare.__doc__.split())[:40] in " ".join(page.text.split())
    assert "../../../index.html" in page.all("href")
    assert where == "api/index.html"
    build(written(tmp_path, first="Text."), tmp_path, where)
    assert where in Page(tmp_path / "first.html").all("href")


def test_every_module_of_the_reference_is_there():
    for name in MODULES:
        assert importlib.import_module(name).__doc__


def test_every_light_colour_of_a_scene_has_a_dark_one():
    known = {light for _, _, light in colours.darkened()}
    for name in ("rnn", "coupled", "undefined"):
        for kind in ("tapes", "unrolled", "connections", "taps", "equations"):
            svg = visual.draw(gallery.loops[name], kind).svg()
            assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', svg)) <= known, (name, kind)


def test_dark_letters_are_legible_on_dark_boxes():
    dark = colours.darkened()
    for role in Role:
        for faded in (False, True):
            look = LIGHT.look(role, faded)
            letters = dark[colours.LETTERS, "fill", look.text]
            own = DARK.look(role, faded)
            wanted = min(LEGIBLE, contrast(own.text, own.fill))
            assert contrast(letters, dark[colours.BOX, "fill", look.fill]) >= wanted, role


def test_titles_of_pictures_are_told_once(pages):
    labels = [a["aria-label"] for _, a in pages["02_second.html"].found if "aria-label" in a]
    twice = {label for label in labels if labels.count(label) > 1}
    assert twice == {"Picture 4: Values of rnn, derivative of order 1"}  # by day, or by night
    assert text("Picture 3: Genealogy of the Scans of a derivative of order 2") in labels
