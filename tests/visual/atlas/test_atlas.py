"""The pages of an atlas: however they are packed, their pictures are those of `visual.draw`."""

import base64
import json
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product

import pytest
from strange_loops import HOSTILE, LOOPS

import visual
from lab import Loop, Parameter, Sequence, State
from lab.errors import ArgumentError, GraphError, LabError
from lab.loops import gallery
from visual.atlas.grid import offered, pattern
from visual.atlas.page import pack
from visual.cli.main import main
from visual.drawing import draw
from visual.layout.sheet import OFFLINE
from visual.widgets.stories import of_all

pytestmark = pytest.mark.same

GRID = {
    "loops": ("square", "coupled"),
    "taps": {"square": [(-1,), (-2, -1)], "coupled": [{"hunters": (-2,)}]},
    "orders": (1, 2),
    "costs": ("last", (0, 0.5, 1, 0)),
    "views": ("unrolled", "tapes", "taps"),
}


class Data(HTMLParser):
    """The JSON that a page has for its atlases."""

    def __init__(self, page):
        super().__init__()
        self.found, self.inside = [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "script" and ("type", "application/json") in attributes

    def handle_data(self, content):
        if self.inside:
            self.found.append(json.loads(content))

    def handle_endtag(self, tag):
        self.inside = False


def leaves(tree, *keys):
    for key, branch in tree.items():
        if isinstance(branch, dict):
            yield from leaves(branch, *keys, key)
        else:
            yield (*keys, key), branch


def pictures(data):
    """Every picture of a page by what is chosen for it, unpacked."""
    forms = [theme["value"] for theme in data["themes"]] + ["text", "stories", "live"]
    for (loop, taps, order, cost, view), found in leaves(data["tree"]):
        for place, form in enumerate(forms):
            if isinstance(found, str):
                yield (loop, taps, int(order), cost, view, form), found
                continue
            unpacked = zlib.decompress(base64.b64decode(data["pictures"][found])).decode()
            parts = unpacked.split("\0")[place :: len(forms)]
            yield (loop, taps, int(order), cost, view, form), "".join(parts)


def drawn(loop, taps, order, cost, view, form):
    """The picture that a choice stands for, drawn by itself."""
    chosen = {}
    for part in taps.split(";"):
        name, numbers = part.rsplit(":", 1)
        chosen[name] = tuple(map(int, numbers.split(",")))
    weights = cost if cost in ("last", "sum") else list(map(float, cost.split(",")))
    try:
        theme = "light" if form in ("text", "stories") else form
        view, *scan = view.split()
        opened = {"scan": int(scan[0])} if scan else {}
        picture = draw.drawn(
            OFFLINE, gallery.loops[loop], view, theme,
            taps=chosen, order=order, cost=weights, **opened,
        )  # fmt: skip
        if form == "stories":
            return json.dumps(of_all(picture), ensure_ascii=False, separators=(",", ":"))
        return picture.text() if form == "text" else picture.svg()
    except LabError as error:
        return str(error)


def wrong(data):
    """The choices whose picture is another one than `visual.draw` draws; see `test_live`, too."""
    drawings = (one for one in pictures(data) if one[0][-1] != "live")
    return [choice for choice, found in drawings if found != drawn(*choice)]


@pytest.fixture(scope="module")
def page():
    return visual.Atlas(**GRID).page()


@pytest.fixture(scope="module")
def data(page):
    (found,) = Data(page).found
    return found


def test_every_picture_is_that_of_draw(data):
    choices = [choice for choice, _ in pictures(data)]
    tapped = [("square", "x:-1"), ("square", "x:-2,-1"), ("coupled", "prey:-1;hunters:-2")]
    costs, forms = ("last", "0,0.5,1,0"), ("light", "dark", "text", "stories", "live")
    refused = tapped[2], costs[1]
    grid = product(tapped, (1, 2), costs, GRID["views"], forms)
    expected = {(*loop, order, cost, view, form) for loop, order, cost, view, form in grid}
    can_be = [(loop, cost) for loop, cost in product(tapped, costs) if (loop, cost) != refused]
    opened = product(can_be, ("unrolled", "tapes"), (1, 2, 3), forms)  # and 4, which is open
    expected |= {(*at[0], 2, at[1], f"{view} {scan}", form) for at, view, scan, form in opened}
    assert len(choices) == len(expected) == 180 + 150
    assert set(choices) == expected
    assert wrong(data) == []


def test_the_comparison_sees_another_picture(data):
    tree = {"square": {"x:-1": json.loads(json.dumps(data["tree"]["square"]["x:-1"]))}}
    orders = tree["square"]["x:-1"]
    orders["1"]["last"]["tapes"] = orders["2"]["last"]["tapes"]
    found = wrong({**data, "tree": tree})
    forms = ("light", "dark", "text", "stories")
    assert found == [("square", "x:-1", 1, "last", "tapes", form) for form in forms]
    other = {**data, "tree": tree, "themes": data["themes"][::-1]}
    assert sum(form in ("light", "dark") for *_, form in wrong(other)) == 24 + 24


def test_what_a_loop_does_not_have_is_told_where_it_would_be(page, data):
    reasons = {choice: found for choice, found in leaves(data["tree"]) if type(found) is str}
    assert {(loop, cost) for loop, _, _, cost, _ in reasons} == {("coupled", "0,0.5,1,0")}
    assert all("3 steps" in reason and "4" in reason for reason in reasons.values())
    assert "<summary>6 of 36 pictures are not there</summary>" in page
    assert "<li>unrolled, tapes and taps of coupled, cost 0,0.5,1,0: cost: the loop makes 3" in page


def test_the_same_picture_is_there_once(data):
    taps = [found for (*_, view), found in leaves(data["tree"]) if view == "taps"]
    numbers = [found for found in taps if isinstance(found, int)]
    assert len(set(numbers)) == 6  # of three patterns and two orders: the cost changes nothing
    assert len(numbers) == 10
    assert len(set(data["pictures"])) == len(data["pictures"])


@pytest.mark.parametrize(
    "svgs",
    [["<a><b/>x</a>"], ["<a><b/></a>", "<a><c/><b/>t</a>"], ["<a/>", "<a>é &lt; ∂</a>", "<b></b>"]],
)
def test_packing_loses_nothing(svgs):
    parts = zlib.decompress(base64.b64decode(pack(svgs))).decode().split("\0")
    assert ["".join(parts[place :: len(svgs)]) for place in range(len(svgs))] == svgs


def test_a_hostile_name_is_no_markup():
    loop = replace(LOOPS["hostile name"], name=HOSTILE, reason=HOSTILE)
    page = visual.Atlas([loop], orders=[1], costs=["last"], views=["taps"], title=HOSTILE).page()
    assert HOSTILE not in page
    assert page.count("<script") == 2
    (data,) = Data(page).found
    assert data["loops"][0]["value"] == HOSTILE
    assert data["loops"][0]["about"] == HOSTILE


def test_a_page_says_what_was_chosen_and_nothing_twice():
    atlas = visual.Atlas("square", orders=[1, 1], costs="sum", views="taps", themes="print")
    assert atlas.grid.orders == (1,)
    assert atlas.grid.costs == ("sum",)
    assert len(atlas.grid.combinations) == 4
    same = visual.Atlas(["square"], orders=1, costs=["sum"], views=["taps"], themes="print")
    assert atlas.grid == same.grid
    assert atlas.page() == atlas.page()
    assert "data-colours=print" in atlas.page()


OFFERED = {
    "square": ["−1", "−2, −1", "−3, −1", "−2"],
    "fibonacci": ["−2, −1", "−3, −1", "−3, −2"],
    "gap": ["−3, −1", "−2, −1", "−3, −2"],
    "logistic": ["−1", "−2"],
    "coupled": ["prey −1 · hunters −1", "prey −2 · hunters −1", "prey −1 · hunters −2"],
    "delay": ["−3", "−1", "−2"],
}


@pytest.mark.parametrize("name", OFFERED)
def test_taps_are_offered_that_a_step_takes(name):
    assert [taps.words for taps in offered(gallery.loops[name])] == OFFERED[name]


def test_taps_of_sequences_and_of_loops_without_states():
    loop = Loop(
        lambda u: 2 * sum(u),
        sequences=(Sequence("u", [1.0, 2.0, 3.0], taps=(0, 1)),),
        outputs=("y",),
    )
    assert [taps.words for taps in offered(loop)] == ["none"]
    assert pattern(loop, {"u": (0, 1)}).words == "0, 1"
    window = visual.Atlas(["window"], taps={"window": [(-1,), {"u": (0, 1, 2)}, {"x": (-1,)}]})
    found = [taps.words for taps in window.grid.taps["window"]]
    assert found == ["x −1 · u −1, 0, 1", "x −1 · u 0, 1, 2"]
    with pytest.raises(ArgumentError, match="it has no state"):
        pattern(loop, (-1,))
    page = visual.Atlas([loop], orders=[1], costs=["sum"], views=["unrolled"]).page()
    assert len(list(pictures(Data(page).found[0]))) == 5


WRONG = [
    ({"loops": "circle"}, ["circle", "square"]),
    ({"loops": []}, ["loops", "one at least"]),
    ({"loops": [3]}, ["3", "lab.Loop"]),
    ({"loops": [LOOPS["nan"], LOOPS["inf"]]}, ["scan_fn", "name"]),
    ({"taps": {"gap": [(-1,)]}, "loops": "square"}, ["gap", "square"]),
    ({"taps": [(-1,)]}, ["taps", "by the names of loops"]),
    ({"taps": {"square": (-2, -1)}}, ["square", "(-2, -1)", "[(-1,), (-2, -1)]"]),
    ({"taps": {"square": {"x": (-1,)}}}, ["square", "several patterns"]),
    ({"taps": {"square": []}}, ["square", "one at least"]),
    ({"taps": {"square": [{"x": -1}]}}, ["x", "as in (-1,)"]),
    ({"taps": {"square": [(0,)]}}, ["below 0"]),
    ({"taps": {"square": [{"y": (-1,)}]}}, ["'y'", "x"]),
    ({"taps": {"logistic": [(-2, -1)]}}, ["[-2, -1]", "exactly 1 tap"]),
    ({"orders": [-1]}, ["-1", "0, 1, 2"]),
    ({"orders": [True]}, ["True", "whole number"]),
    ({"orders": ["1"]}, ["'1'", "whole number"]),
    ({"costs": ["mean"]}, ["mean", "last and sum"]),
    ({"costs": (0, 0, 1)}, ["0", "(0, 0, 1, 0.5)"]),
    ({"costs": ["last", (1, 2)], "loops": "square", "orders": 1, "views": "taps"}, ["(1.0, 2.0)"]),
    ({"views": ["tape"]}, ["tape", "tapes"]),
    ({"views": "phases", "loops": "square", "orders": [0, 1], "themes": "pink"}, ["pink", "dark"]),
    ({"title": " "}, ["title", "not empty"]),
]


@pytest.mark.parametrize(("chosen", "says"), WRONG)
def test_mistakes_are_told(chosen, says):
    with pytest.raises(ArgumentError) as told:
        visual.Atlas(**chosen).page()
    for words in says:
        assert words in str(told.value)


def test_what_has_no_picture_at_all_is_refused():
    with pytest.raises(GraphError, match="the phases begin at order 1"):
        visual.Atlas("square", orders=[0], views="phases").page()
    with pytest.raises(ArgumentError, match="orders: nothing of 0 can be drawn"):
        visual.Atlas("square", orders=[0, 1], views="phases").page()
    left = visual.Atlas("square", orders=[0], costs=["last"]).page()  # views were not named
    assert "<li>phases: order = 0: nothing is differentiated; the phases begin at order 1" in left


def test_what_is_not_there_is_told_one_by_one_where_it_is_no_part_of_the_grid():
    atlas = visual.Atlas("square", orders=[1, 2], costs=["last"], views="taps")
    found = [
        replace(entry, found=GraphError("why")) if place in (0, 3) else entry
        for place, entry in enumerate(atlas.entries)
    ]
    object.__setattr__(atlas, "entries", tuple(found))
    words = "taps of square, taps −1, order 1, cost last; square, taps −2, −1, order 2, cost last"
    assert f"2 of 8 pictures are not there</summary><ul><li>{words}: why</li>" in atlas.content


def test_a_parameter_that_is_taken_by_name_has_no_taps():
    loop = Loop(
        lambda x, w: w * x, states=(State("x", 1.0),), parameters=(Parameter("w", 2.0),), n_steps=2
    )
    with pytest.raises(ArgumentError, match="states and sequences are x"):
        pattern(loop, {"w": (-1,)})


def test_the_command_writes_a_page(tmp_path, capsys):
    path = tmp_path / "lesson.html"
    options = ["--loops", "square,coupled", "--views", "taps", "--orders", "1"]
    options += ["--taps=square=-1/-2,-1", "--taps=coupled=prey:-1;hunters:-2"]
    options += ["--costs", "sum/0,0,0,1", "--themes", "dark"]
    assert main(["page", "--out", str(path), *options]) == 0
    assert capsys.readouterr().out == f"{path}: 5 pictures, 0.1 MB; 1 more cannot be drawn.\n"
    (data,) = Data(path.read_text(encoding="utf-8")).found
    taps = {loop: list(found) for loop, found in data["tree"].items()}
    assert taps == {"square": ["x:-1", "x:-2,-1"], "coupled": ["prey:-1;hunters:-2"]}
    assert list(data["tree"]["square"]["x:-1"]["1"]) == ["sum", "0,0,0,1"]
    assert wrong(data) == []
    assert [p.name for p in tmp_path.iterdir()] == ["lesson.html"]


MISTYPED = [
    (["--out", "x.svg"], "ends in .html"),
    (["--out", "nowhere/x.html"], "there is no folder"),
    (["--loops", "circle"], "the gallery has"),
    (["--loops", "math:pi"], "--loops math:pi: expected a lab.Loop"),
    (["--taps=-1"], "of which loop?"),
    (["--taps=ring=-1"], "the loops of this page are"),
    (["--loops", "square", "--taps=a"], "taps as in -2,-1"),
    (["--loops", "square", "--taps=-1//-2"], "taps as in -2,-1"),
    (["--loops", "square", "--taps=0"], "below 0"),
    (["--orders", "one"], "--orders one"),
    (["--costs", "mean"], "--costs mean"),
    (["--views", "boxes"], "boxes"),
]


@pytest.mark.parametrize(("arguments", "says"), MISTYPED)
def test_what_is_mistyped_is_told_in_one_line(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    assert main(["page", "--out", "x.html", *arguments]) == 2
    message = capsys.readouterr().err
    assert message.startswith("scantape: ")
    assert says in message
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_no_file(tmp_path, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("visual.atlas.grid.drawn", interrupt)
    assert main(["page", "--out", str(tmp_path / "x.html")]) == 130
    assert capsys.readouterr().err == "scantape: stopped.\n"
    assert not list(tmp_path.iterdir())


def test_a_view_opens_the_scans_that_it_can_show():
    """Scan 1 of square is no derivative and has no phases; the page has those of the others."""
    entries = visual.Atlas(["square"], {"square": [(-1,)]}, [2], ["last"], ["phases"]).entries
    assert all(isinstance(entry.found, str) for entry in entries)
    usual = draw.drawn(OFFLINE, gallery.loops["square"], "phases", order=2)
    shown = {entry.scan: entry for entry in entries}
    assert len(shown) == len(entries) == 3
    assert None in shown
    assert 1 not in shown
    for scan in shown.keys() - {None}:
        picture = draw.drawn(OFFLINE, gallery.loops["square"], "phases", order=2, scan=scan)
        assert picture.svg() != usual.svg()
