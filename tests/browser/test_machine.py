"""In Chromium, cells of the machine do not move, and each number equals the number in the trace."""

import pytensor.tensor as pt
import pytest
from graphs import scan
from strange_loops import trace_of

import lab
import visual
from lab import gallery
from visual.pictures.machine.arrange import NARROW, arrange
from visual.pictures.machine.frames import frame_of
from visual.pictures.machine.states import locate
from visual.player.data import PHONE, WIDE
from visual.scene.combinators import envelope_of
from visual.scene.shapes import Box, Polyline, walk

pytestmark = pytest.mark.browser
FIND = "document.querySelector('.scantape-machine').machine"
HISTORICAL = "accumulate-overwritten"
SQUARE = gallery.loops["square"]
PAIR = SQUARE.trace(), SQUARE.with_taps((-2, -1)).trace()
RUNS = [("square", 3, 1280), ("coupled", 2, 1280), ("sequence", 1, 1280), (PAIR, 1, 1280),
        ("square", 1, 390), ("square", 3, 390), ("gap", 1, 390)]  # fmt: skip


@pytest.fixture
def opened(page, tmp_path):
    """Yield a function that opens the page of a run. Check that the page reports no error."""
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))

    def open_page(run, order=1, *, width=1280, height=720, **options):
        if isinstance(run, str):
            run = gallery.loops[run].trace(order=order, **options)
        machine = visual.machine(*run) if isinstance(run, tuple) else visual.machine(run)
        page.set_viewport_size({"width": width, "height": height})
        page.goto(machine.save(tmp_path / "machine.html").as_uri())
        go(page, f"{FIND}.p")
        return machine.content

    yield open_page
    page.emulate_media(media="null", color_scheme="null", reduced_motion="null")
    assert not errors


def go(page, moment):
    """Go to a moment. The machine scrolls in the next frame."""
    page.evaluate(f"{FIND}.go({moment}), new Promise(requestAnimationFrame)")


CELLS = """() => [...document.querySelectorAll("[data-cell]")].map((cell) => {
    const box = cell.querySelector("rect").getBoundingClientRect();
    const { role, scan, tape, position } = cell.dataset;
    return [box.x, box.y, cell.querySelector(".number").textContent, role, scan, tape, position];
})"""
SHOWN = """(css) => [...document.querySelectorAll(css)].filter((node) =>
    node.checkVisibility({ opacityProperty: true, visibilityProperty: true }))"""
EVERY = f"""(moments) => moments.map((moment) => {{
    {FIND}.go(moment);
    const {{ dataset, offsetHeight }} = {FIND}.root, shown = {SHOWN};
    const names = shown("svg .name").map((name) => name.textContent).filter(Boolean);
    const boxes = shown(".adder rect").map((rect) => rect.getBBox());
    const sides = boxes.map(({{ x, y, width, height }}) => [x, y, width, height]);
    return [Number(dataset.moment), ({CELLS})(), offsetHeight, names, sides];
}})"""


@pytest.mark.parametrize(("name", "order", "width"), RUNS)
def test_cells_do_not_move_and_equal_the_run_and_a_still_picture(page, opened, name, order, width):
    machine = opened(name, order, width=width, height=2000, cost="sum")
    start = page.evaluate(CELLS)
    assert page.locator(".scantape-machine").get_attribute("data-moments") == str(machine.moments)
    tenths, is_new = [*range(10 * machine.moments + 1), 20], []
    every = page.evaluate(EVERY, [tenth / 10 for tenth in tenths])
    arrangement = arrange(machine, WIDE if width > NARROW else PHONE)
    rows = [(cell, machine.rows[cell.row]) for cell in machine.cells]
    slots = [[str(row.scan + 1), row.tape, str(cell.position)] for cell, row in rows]
    for tenth, (moment, now, height, names, boxes) in zip(tenths, every, strict=True):
        assert (moment, height) == (tenth // 10, every[0][2])
        assert [cell[:2] for cell in now] == [pytest.approx(cell[:2], abs=0.5) for cell in start]
        keys = [cell.at(moment) for cell in machine.cells]
        if tenth % 10 == 0:
            shown = [[key.text, key.role, *slot] for key, slot in zip(keys, slots, strict=True)]
            assert [cell[2:] for cell in now] == shown
            is_new = [False for _ in now]
        # A cell first shows the old number, and then only the new number.
        for n, cell in enumerate(machine.cells):
            old, new = keys[n].text, cell.at(moment + 1).text
            assert now[n][2] == new or (now[n][2] == old and not is_new[n])
            is_new[n] = now[n][2] != old
        # A still picture has the same names and the same boxes of additions.
        frame = frame_of(arrangement, locate(machine, tenth / 10))
        assert names == [text.content for text in frame["name"]]
        areas = [group.shapes[0] for group in frame["adder"]]
        assert boxes == [pytest.approx([a.x, a.y, a.width, a.height], abs=0.02) for a in areas]


DRAWN = f"""(moments) => moments.map((moment) => {{
    {FIND}.go(moment);
    const svg = {FIND}.picture.svg.getScreenCTM().inverse(), shown = {SHOWN};
    const moved = (node, ...points) => {{
        const {{ e, f }} = svg.multiply(node.getScreenCTM());
        return points.map((x, n) => x + (n % 2 ? f : e));
    }};
    const start = (text) => moved(text, text.x.baseVal[0].value, text.y.baseVal[0].value);
    const boxes = (css) => shown(css).map((node) => {{
        const {{ x, y, width, height }} = node.getBBox();
        return moved(node, x, y, x + width, y + height);
    }});
    return {{
        lines: boxes(".arrow:not(.now)"), factors: boxes(".factor rect"),
        bars: boxes(".entries path"), strips: boxes(".strip"),
        numbers: shown(".cell :is(.number, .mark, .entries text):not(:empty)").map(start),
    }};
}})"""
WRONG = {
    "lines": "for (const event of whole.events) event.near = [1]",
    "factors": "layout.pill[1] = 20",
    "bars": "for (const box of layout.boxes) for (const bar of box.entries) bar.reach += 1",
    "strips": "layout.headings[0].ground.y += 1",
    "numbers": "for (const box of layout.boxes) box.anchors.number[1] += 1",
}


def drawn(arrangement, moment):
    """Return the positions in a still picture, by kind, as `DRAWN` returns them for a page."""
    frame = frame_of(arrangement, locate(arrangement.machine, moment))
    shapes = {layer: [*walk(each)] for layer, each in frame.items()}

    def boxes(layer, kind=Box):
        found = (shape for shape in shapes[layer] if isinstance(shape, kind))
        return [[*envelope_of(s if kind is Box else Polyline(s.points))] for s in found]

    return {
        "lines": boxes("arrow", Polyline),
        "factors": boxes("pill"),
        "bars": [box for box in boxes("cell", Polyline) if box[0] == box[2]],
        "strips": boxes("heading"),
        "numbers": [[s.x, s.y] for s in shapes["cell"] if getattr(s, "content", "")],
    }


def different(shown, expected):
    """Return the kinds of shapes with other positions."""
    near = {kind: [pytest.approx(p, abs=0.06) for p in places] for kind, places in shown.items()}
    return [kind for kind, places in expected.items() if near[kind] != places]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("name", "order"), [("gap", 3), ("matrix", 1)])
def test_each_moment_has_the_positions_of_the_still_picture(page, opened, name, order, width):
    """The third derivative has 8 Scans; the state of matrix has 12 entries."""
    machine = opened(trace_of(name, order), width=width)
    arrangement = arrange(machine, WIDE if width > NARROW else PHONE)
    every = page.evaluate(DRAWN, [*range(machine.moments + 1)])
    stills = [drawn(arrangement, moment) for moment in range(machine.moments + 1)]
    assert [different(*pair) for pair in zip(every, stills, strict=True)] == [[]] * len(every)


@pytest.mark.parametrize("kind", WRONG)
def test_the_comparison_detects_a_wrong_position(page, opened, kind):
    run, moment = (trace_of("matrix"), 4) if kind == "bars" else (trace_of("gap", 3), 27)
    machine = opened(run, width=390)
    change = f"const {{ whole }} = {FIND}, layout = whole.layouts[1]; {WRONG[kind]};"
    page.evaluate(f"() => {{ {change} {FIND}.open(whole); }}")
    (shown,) = page.evaluate(DRAWN, [moment])
    assert different(shown, drawn(arrange(machine, PHONE), moment)) == [kind]


def test_a_value_moves_and_is_added_before_the_slot_shows_the_sum(page, opened):
    """The first backward step reads x₃ as a saved value; in the second, x₃ is a result again."""
    opened("square", 1, cost="sum")
    visible = []
    for moment in (6.1, 6.4, 6.7, 6.95):
        go(page, moment)
        visible.append({*page.evaluate(f"({SHOWN})('.over text').map((n) => n.textContent)")})
        assert page.locator('[data-name="x₃"]').get_attribute("data-role") == "result"
    assert {"2.327"} <= visible[0]
    assert {"3.790"} <= visible[1]
    assert {"1", "+", "3.790"} <= visible[2]
    assert {"1 + 3.790", "4.790"} <= visible[3]
    assert page.locator(".scantape-sentence").inner_text() == "dC/dx₂:  4.790 ≈ 2.327 × 1.629 + 1"


def test_a_faulty_slot_is_wrong_after_its_own_sum(page, opened):
    machine = opened(lab.break_rule(SQUARE, HISTORICAL, order=3))
    first, slot = machine.mistake.first_wrong, page.locator("[data-rule]").first
    states = []
    for tenth in range(1, 11):
        go(page, first - 1 + tenth / 10)
        is_wrong = "wrong" in slot.get_attribute("class")
        states.append((slot.locator(".number").text_content(), is_wrong))
    assert (states[0], states[-1]) == (("1", False), ("2", True))
    assert sorted(states) == states  # a doubled number stays doubled


def test_keys_step_play_and_open_the_provenance_of_a_number(page, opened):
    opened("square", 1)
    page.get_by_label("moment").focus()
    page.keyboard.press("End")
    moment = f"{FIND}.root.dataset.moment"
    assert page.evaluate(moment) == "9"
    assert page.get_by_label("next sum").get_attribute("aria-disabled") == "true"
    page.keyboard.press("Home")
    assert page.evaluate(moment) == "0"
    page.keyboard.press("ArrowRight")
    page.locator('.scantape-machine[data-moment="1"]').wait_for()
    page.keyboard.press("End")
    page.locator('[data-name="dC/dx₂"]').focus()
    page.keyboard.press("Enter")
    assert "2.161 = 1.3268 × 1.6290 + 0" in page.locator(".scantape-sentence").inner_text()
    assert page.locator(".line .preserved, .line .saved").all_inner_texts() == ["1.3268", "1.6290"]
    assert "read in 1 event (dotted): Scan 2, step 2" in page.locator(".more").inner_text()
    assert page.locator(".cell.preserved, .cell.saved").count() == 2  # the cells that the sum reads
    assert (page.locator(".over .drop").count(), page.locator(".over .now").count()) == (1, 1)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.name") == "dC/dx₁"
    page.keyboard.press("Escape")
    assert page.locator(".picked").count() == 0
    assert not page.evaluate(f"{FIND}.isPlaying")
    page.keyboard.press(" ")  # a number has the focus
    assert page.evaluate(f"{FIND}.isPlaying")
    page.keyboard.press(" ")
    page.locator(".legend input").press("Space")  # a control handles its keys
    assert page.locator(".legend input").is_checked()
    assert page.get_by_role("button", name="play").inner_text() == "▶"


def test_reduced_motion_shows_each_sum(page, opened):
    opened(SQUARE.with_taps({"x": (-2, -1)}).trace(order=2))
    sums = f"{FIND}.bar.stops.map((p) => ({FIND}.go(p), {FIND}.words.sentence.textContent))"
    played = page.evaluate(sums)
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(sums) == played
    go(page, 0.4)
    assert page.evaluate(f"({SHOWN})('.pill.value')") == []


def test_a_line_is_orange_only_if_it_replaces_a_value_that_the_step_reads(page, opened):
    opened("square", 2)
    stroke = "(node) => getComputedStyle(node).stroke"
    for moment, role in ((2, "written"), (8, "overwritten")):
        go(page, moment)
        cell = page.locator(f'[data-role="{role}"] rect').first.evaluate(stroke)
        assert page.locator(".arrow.now").last.evaluate(stroke) == cell


def test_a_factor_is_explained_by_a_click_and_by_a_key(page, opened):
    opened("square", 1, cost="sum")
    go(page, 6.3)
    sentence = page.locator(".scantape-sentence")
    for explain in (page.locator(".factor").click, lambda: page.keyboard.press("Enter")):
        explain()
        assert sentence.inner_text() == "local derivative:  2·x₂ = 1.629;  saved value: x₂ = 0.8145"
        page.keyboard.press("Escape")
        assert sentence.inner_text().startswith("dC/dx₂:  4.790")
    opened(trace_of("branches"))  # two more terms read the same gradient
    go(page, 5.3)
    page.locator(".factor").click()
    assert sentence.inner_text().startswith("factor of this term:  0.5")


def test_a_number_is_read_until_another_replaces_it_and_only_some_are_returned(page, opened):
    """The gradient of coupled is with respect to prey. Scan 2 of square ends before the run."""
    for name, order, moment, cell, text in (
        ("square", 1, 5, "dC/dx₃", "read in 1 event (dotted): Scan 2, step 0"),  # adds to 1
        ("square", 1, 6, "dC/dx₃", "read in 1 event (dotted): Scan 2, step 1"),
        ("coupled", 1, 7, "dC/dhunters₀", "no later step reads this number"),
        ("coupled", 1, 7, "dC/dprey₀", "returned"),
        ("square", 2, 9, "dC/dx₀", "returned"),
    ):
        opened(name, order, cost="sum" if text.startswith("read") else "last")
        go(page, moment)
        page.locator(f'[data-name="{cell}"]').click()
        assert page.locator(".more").inner_text().split(" · ")[0] == text, cell


REST = f"""() => new Promise((done) => {{
    const look = () => ({FIND}.goal === null ? done() : requestAnimationFrame(look));
    look();
}})"""


# The cells that are not between the edges of the picture, of the window, and of the words.
HIDDEN = f"""async (numbers) => {{
    const {{ picture, stage, foot, root }} = {FIND}, edge = (node) => node.getBoundingClientRect();
    root.scrollIntoView();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const {{ left, right, top, bottom }} = edge(stage), low = Math.min(bottom, edge(foot).top);
    return numbers.filter((number) => {{
        const cell = edge(picture.cells[number].group.firstChild);
        return cell.left < left || cell.right > right || cell.top < top || cell.bottom > low + 1;
    }});
}}"""


def test_a_scan_whose_slots_all_start_at_zero_is_scrolled_into_view(page, opened):
    machine = opened("coupled", 3, height=500)
    (moment,) = (n for n, e in enumerate(machine.events, 1) if (e.scan, e.step) == (5, None))
    go(page, moment)
    scans = [machine.rows[cell.row].scan for cell in machine.cells]
    assert not machine.events[moment - 1].parts
    assert scans.index(5) not in page.evaluate(HIDDEN, [scans.index(5)])


@pytest.mark.parametrize("name", ["gap", "square", "logistic"])
def test_a_phone_shows_all_cells_of_a_sum(page, opened, name):
    """The picture is wider and higher than the window, but not the cells of a sum."""
    machine, hidden = opened(name, 2, width=390, height=664), []
    for moment, event in enumerate(machine.events, 1):
        go(page, moment)
        parts = event.groups[-1].parts if event.step is not None else ()
        hidden += page.evaluate(HIDDEN, [n for part in parts for n in (part.target, *part.reads)])
    assert hidden == []


def test_next_previous_and_explanations_follow_the_sums_of_an_event(page, opened):
    """Step 1 of Scan 3 has five stops: both old values together, two sums, and two outputs."""
    opened("coupled", 2)
    page.get_by_label("speed").select_option(index=3)
    go(page, 9)
    slots = []
    for stop in range(1, 6):
        page.get_by_label("next sum").click()
        page.evaluate(REST)
        assert page.locator(".more").inner_text().startswith(f"part {stop} of 5")
        slots.append(page.locator(".scantape-sentence .line .name").all_inner_texts())
        assert page.evaluate(f"{FIND}.moment") == (10 if stop == 5 else 9)
    assert [len(names) for names in slots] == [2, 1, 1, 1, 1]
    assert slots[1] == ["dC′/d(dC/dprey₂):  "]
    past = page.locator(".cell.past").evaluate_all("(all) => all.map((one) => one.dataset.name)")
    others = (f"dC′/d(dC/d{name})" for name in ("prey₂", "hunters₁", "hunters₂"))
    assert past == ["prey₁", "hunters₁", *others]  # the last sum reads other values
    page.get_by_label("previous sum").click()
    page.evaluate(REST)
    assert page.locator(".more").inner_text().startswith("part 4 of 5")
    go(page, 9.34)  # the second of five sums has ended: the slot of the third has its old value
    page.locator('[data-name="dC′/d(dC/dhunters₂)"]').click()
    assert "dC′/d(dC/dhunters₂) starts at 0." in page.locator(".scantape-sentence").inner_text()
    page.locator('[data-name="dC′/d(dC/dprey₂)"]').click()
    assert "1.044 = " in page.locator(".scantape-sentence").inner_text()


def test_a_loop_and_its_gradient_show_at_most_45_texts(page, opened):
    opened("square", 1)
    count = f"({SHOWN})('.scantape-machine svg text:not(:empty)').length"
    counts = page.evaluate(f"{FIND}.bar.stops.map((stop) => ({FIND}.go(stop), {count}))")
    assert 20 <= max(counts) <= 45


CUT = f"""() => {FIND}.bar.stops.flatMap((stop) => {{
    {FIND}.go(stop);
    const words = [...document.querySelectorAll(".scantape-sentence, .line, .reason")];
    return words.filter((node) => node.scrollWidth > node.clientWidth
        || node.scrollHeight > node.clientHeight + 2).map((node) => node.textContent);
}})"""


@pytest.mark.parametrize("width", [1280, 960])
def test_no_sentence_and_no_reason_is_cut(page, opened, width):
    opened("gap", 3, width=width)
    assert page.evaluate(CUT) == []


LOOKS = """() => [...document.querySelectorAll(".legend p span")].map((entry) => {
    const { display, border, backgroundColor } = getComputedStyle(entry, "::before");
    return [display, border, backgroundColor].join();
})"""


def test_the_entries_of_the_legend_look_different(page, opened):
    opened("rnn", 1)
    looks = page.evaluate(LOOKS)
    assert len(set(looks)) == len(looks) > 4


PAINT = """(css) => [...document.querySelectorAll(css)].map((cell) => {
    const style = (node, ...names) => names.map((name) => getComputedStyle(node)[name]);
    const boxes = [...cell.querySelectorAll("rect")].filter((box) => box.checkVisibility());
    const isNumber = (node) => node.textContent && !node.matches(".mark, .name, .position");
    const texts = [...cell.querySelectorAll("text")].filter(isNumber).slice(0, 1);
    const names = ["fill", "stroke", "strokeWidth", "strokeDasharray"], outer = boxes[0];
    const looks = [outer, boxes.at(-1)].map((box) => style(box, ...names));
    const corners = [...cell.querySelectorAll("path")].filter((line) => line.checkVisibility());
    return [...looks, ...[...texts, ...corners].map((node) => style(node, "fill"))];
})"""
COLORED = {"overwritten", "preserved", "restored", "saved", "pending", "empty"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_role_looks_the_same_in_the_player_and_in_a_still_picture(page, opened, theme):
    page.emulate_media(color_scheme=theme)
    run, compared = lab.break_rule(SQUARE.with_steps(2), HISTORICAL, order=3), set()
    machine, widget = opened(run), visual.machine(run)
    for moment in range(machine.moments + 1):
        go(page, moment)
        show = "(svg) => (document.querySelector('main').lastElementChild.outerHTML = svg)"
        page.evaluate(show, widget.scene(moment, theme).svg())
        looks = (page.evaluate(PAINT, css) for css in ("[data-cell]", "g:has(> title + rect)"))
        for cell, played, drawn in zip(machine.cells, *looks, strict=True):
            role, is_wrong = cell.at(moment).role, (cell.wrong_from or 99) <= moment
            if role in COLORED or is_wrong:  # otherwise, other Scans are faded
                start = int(role not in COLORED)
                assert played[start:] == drawn[start:], (moment, cell.name)
                compared.add((role, is_wrong))
    assert compared > {(role, False) for role in COLORED} | {("overwritten", True)}


def test_a_faulty_rule_is_played_next_to_the_correct_one(page, opened):
    loop = SQUARE.with_steps(2)
    go(page, opened(lab.break_rule(loop, HISTORICAL, order=3)).moments)
    sentence = page.locator(".scantape-sentence").inner_text()
    assert "✓ dC″/dx₀:  22.8 = " in sentence
    assert "✗ dC″/dx₀:  68.4 = " in sentence
    assert page.locator("[data-rule]").count() > 4
    assert page.locator("td.wrong").all_inner_texts() == ["68.4", "3"]
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    go(page, 1)
    assert page.locator(".cell.wrong").count() == 0
    page.get_by_role("button", name="▲ wrong").click()
    assert page.locator(".cell.wrong").count() == 1
    assert "first wrong number" in page.locator(".more").inner_text()


SOURCES = f"""() => {FIND}.picture.cells.flatMap(({{ group }}, number) => {{
    const machine = {FIND};
    machine.forget();
    machine.pick(group);
    const moves = machine.picture.parts.flatMap(({{ moves }}) => moves.map(({{ move }}) => move));
    return moves.filter(({{ source }}) => source !== null && source !== number)
        .map((move) => [move.value, machine.picture.cells[move.source].value.textContent]);
}})"""


def test_the_sources_of_a_clicked_number_show_the_values_that_the_step_read(page, opened):
    """In the faulty run, later steps replace values that a step has read."""
    run = lab.break_rule(SQUARE, HISTORICAL, order=3)
    go(page, opened(run).moments)
    pairs = page.evaluate(SOURCES)
    assert len(pairs) > 40
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def test_two_loops_are_played_one_above_the_other(page, opened):
    go(page, opened(PAIR).moments)
    sentence = page.locator(".scantape-sentence").inner_text()
    assert "A dC/dx₀:  7.413 " in sentence
    assert "B dC/dx" in sentence
    assert page.locator(".segments span:visible").count() == 2
    assert page.locator("[data-rule]").count() == 0


def test_rotating_a_phone_preserves_the_moment(page, opened):
    machine = opened("square", 1, cost="sum", width=390, height=800)
    go(page, 7)
    boxes = page.evaluate(CELLS)
    assert len({round(y) for _, y, *_ in boxes}) == 2  # a row for each tape
    assert all(0 <= x <= 390 for x, *_ in boxes)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_selector(".scantape-machine:not(.narrow)")
    texts = [text for _, _, text, *_ in page.evaluate(CELLS)]
    assert texts == [cell.at(7).text for cell in machine.cells]
    assert page.locator(".scantape-machine").get_attribute("data-moment") == "7"
    page.evaluate("document.body.style.width = '400px'")  # for example, a sidebar opens
    page.wait_for_selector(".scantape-machine.narrow")


def test_headings_stay_in_view_while_a_machine_scrolls(page, opened):
    opened("gap", 2, width=360)
    scroll = "(stage) => { stage.scrollLeft = 99; return new Promise(requestAnimationFrame); }"
    page.locator(".stage").evaluate(scroll)
    assert page.locator(".stage").evaluate("(stage) => stage.scrollLeft") == 99
    assert all(20 <= head.bounding_box()["x"] < 40 for head in page.locator(".scan").all())


@pytest.mark.parametrize(("name", "width"), [("gap", 960), ("gap", 390), ("coupled", 360)])
def test_all_results_can_be_read_at_the_end(page, opened, name, width):
    """The words and their last line are inside the description, perhaps after a scroll."""
    machine = opened(name, 3, width=width)
    go(page, machine.moments)
    words, more = page.locator(".description"), page.locator(".more")
    words.evaluate("(node) => { node.scrollTop = 1000; }")
    assert more.evaluate("(node) => node.scrollWidth <= node.clientWidth")
    assert more.evaluate("(node) => node.scrollHeight <= node.clientHeight + 1")
    area, box = words.bounding_box(), more.bounding_box()
    assert box["y"] + box["height"] <= area["y"] + area["height"] + 1
    assert all("".join(value) in more.inner_text() for _, value in machine.results)


OVERLAPS = """([count, texts]) => {
    const { machine } = document.querySelector(".scantape-machine"), overlaps = [];
    for (let n = 0; n < count; n += 1) {
        machine.go((n * machine.data.moments) / count);
        const factors = [...document.querySelectorAll(".pill.factor")];
        const boxes = factors.filter((node) => Number(node.style.opacity) > 0.3)
            .map((node) => [node.textContent, node.querySelector("rect").getBoundingClientRect()]);
        boxes.forEach(([a, box], i) => boxes.slice(0, i).forEach(([b, other]) => {
            const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
            const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
            if (wide > 2 && high > 2) overlaps.push(`${a} covers ${b}`);
        }));
        const box = (node) => node.getBoundingClientRect();
        const shown = (SHOWN)(texts).map((node) => [node.textContent, box(node)]);
        for (const line of document.querySelectorAll(".now, .drop"))
            for (let at = 0; at < line.getTotalLength(); at += 2) {
                const { x, y } = line.getPointAtLength(at).matrixTransform(line.getScreenCTM());
                for (const [name, { left, right, top, bottom }] of shown)
                    if (x > left + 1 && x < right - 1 && y > top + 3 && y < bottom - 3)
                        overlaps.push(`a line covers ${name}`);
            }
    }
    return overlaps;
}""".replace("SHOWN", SHOWN)


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "swapped-taps"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_factor_covers_another_and_no_line_covers_a_name(page, opened, name, width):
    run = lab.break_rule(SQUARE, name, order=2) if name in lab.BROKEN else name
    opened(run, 3, width=width, height=900)
    assert page.evaluate(OVERLAPS, [400, "svg .name"]) == []


def loop_with_several_taps():
    u, h0 = pt.dvector("u"), pt.dscalar("h0")
    sequences = [{"input": u, "taps": [-1, 0, 2]}]
    hs = scan(lambda a, b, c, h: h * a + pt.sin(b * c), outputs_info=[h0], sequences=sequences)
    given = {u: [0.1, 0.4, -0.2, 0.7, 1.1, 0.3], h0: 0.6}
    return lab.trace(lab.derivative(hs[-1] + hs[1] ** 2, u), given)


@pytest.mark.parametrize("run", [loop_with_several_taps, "window", "coupled"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_line_covers_a_number_or_a_position_in_the_view_of_contributors(
    page, opened, run, width
):
    opened(run if isinstance(run, str) else run(), width=width, height=900)
    page.get_by_label("buffers").click()
    texts = "svg :is(.name, .number, .position):not(:empty)"
    assert page.evaluate(OVERLAPS, [100, texts]) == []


def test_the_check_detects_a_factor_that_covers_another(page, opened):
    opened("coupled", 1)
    page.evaluate(
        f"""() => {{ for (const event of {FIND}.data.events)
            for (const {{ parts }} of event.groups) for (const {{ terms }} of parts)
                for (const move of terms) if (move.chip) move.chip = [300, 100]; }}"""
    )
    assert page.evaluate(OVERLAPS, [400, "svg .name"]) != []


def test_an_entry_of_a_vector_is_chosen_by_a_click_and_followed(page, opened):
    go(page, opened("rnn", 1).moments)
    sentence = page.locator(".scantape-sentence")
    page.locator('[data-name="dC/dh₁"] [data-entry="1"]').click()
    assert sentence.inner_text().startswith("dC/dh₁[1]:")
    page.locator('[data-name="h₁"] [data-entry="1"]').click()
    assert sentence.inner_text().startswith("h₁[1]:")
    page.locator('[data-name="h₀"] [data-entry="1"]').click()
    assert sentence.inner_text() == "entry 1 of h₀ = -0.2 is an initial value."
    page.locator('[data-name="dC/dh₀"] [data-entry="1"]').click()  # the event writes this cell
    # two rows of five cells, and four values of the sequence
    assert page.locator(".chosen").count() == 14
    assert sentence.inner_text().startswith("dC/dh₀[1]:")
    assert sentence.inner_text().endswith(")[1]")
    page.locator('[data-name="dC/dh₀"] [data-entry="1"]').click()
    assert page.locator(".chosen").count() == 0
    page.locator('[data-name="h₁"]').focus()
    for start in ("h₁ =", "h₁[0]:", "h₁[1]:", "h₁[2]:"):
        page.keyboard.press("Enter")
        assert sentence.inner_text().startswith(start)
    page.keyboard.press("Enter")
    assert page.locator(".chosen").count() == 0
    opened(lab.Loop.from_text("x[t] = x[t-1]", {"x": [1, 2, 3, 4, 5]}, n_steps=1).trace(order=0))
    go(page, 1)  # a click on a bar of a strip
    bar = page.locator('[data-name="x₁"] .entries path').nth(3).bounding_box()
    page.mouse.click(bar["x"], bar["y"] + bar["height"] / 2)
    assert sentence.inner_text().startswith("entry 3 of x₁:  4; x₁:  ‖7.42‖")


def test_the_scans_inside_a_step_open_below_and_follow_the_moment(page, opened):
    """Each step multiplies x by a three times: the inner values are x, a·x, a²·x, and a³·x."""
    x, a = pt.dscalar("x"), pt.dscalar("a")

    def outer(x, a):
        inner = {"outputs_info": [x], "non_sequences": [a], "n_steps": 3, "name": "inner"}
        return scan(lambda y, a: a * y, **inner)[-1]

    loop = scan(outer, outputs_info=[x], non_sequences=[a], n_steps=20, name="outer")
    opened(lab.trace(lab.derivative(loop[-1], x), {x: 0.5, a: 1.1}), width=390)
    details = page.locator("details.inside").first
    numbers = details.locator('.scantape-machine [data-scan="1"] .number')
    details.locator("summary").first.click()
    for moment, start in ((1, 0.5), (2, 0.5 * 1.1**3)):
        go(page, moment)
        page.get_by_text(f"Scans inside step {moment - 1} of Scan 1: inner").wait_for()
        details.locator(".scantape-machine").evaluate("(root) => root.machine.go(99)")
        values = [float(text) for text in numbers.all_text_contents()]
        expected = [float(f"{start * 1.1**n:.4g}") for n in range(4)]
        assert values[: len(expected)] == expected
    go(page, 0)
    steps = "0–2, 15–19 of Scan 1; 0–2, 15–19 of Scan 2"
    page.get_by_text(f"Scans inside the shown steps ({steps}): go to a step").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_and_the_machine_have_the_same_background(page, opened, scheme):
    page.emulate_media(color_scheme=scheme)
    opened("square", 1)
    ground = "getComputedStyle(document.querySelector('%s')).backgroundColor"
    assert page.evaluate(ground % "body") == page.evaluate(ground % ".scantape-machine")
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate(ground % ".scantape-machine") == "rgb(255, 255, 255)"


def test_a_saved_page_has_the_view_of_contributors(page, tmp_path):
    """The page of square at order 1 shows the position of each slot, and formulas in buf[…]."""
    trace = SQUARE.trace()
    for contributor in (False, True):
        machine = visual.machine(trace, contributor=contributor)
        machine.moment = 6
        page.goto(machine.save(tmp_path / f"{contributor}.html").as_uri())
        assert page.locator(".legend input").is_checked() == contributor
        assert page.locator(".position").first.is_visible() == contributor
        assert ("buf[" in page.locator(".more").inner_text()) == contributor
        printed = page.locator(".tape", has_text="Scan{grad_of_square, while_loop=False")
        assert printed.is_visible() == contributor
        page.get_by_label("buffers").click()  # the cells move, and the moment remains
        shown = printed.count(), page.locator(".counter").inner_text()
        assert shown == (not contributor, "6 / 9")
