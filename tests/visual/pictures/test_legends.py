"""One look, one meaning: the legends of all pictures are read beside one another."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import lab
import visual
from lab import check
from lab.eager import grad, recording
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES
from visual.layout.cells import quantity
from visual.layout.names import NamedScan, wholes_of
from visual.scene.shapes import Box, Group, Text
from visual.scene.theme import DARK, LIGHT, PRINT, Hatch, Role

SWATCH = 24, 15  # of a legend, and of nothing else
SCANS = ("square", "gap", "rnn", "coupled", "extra", "undefined", "window")


@cache
def scenes():
    """Pictures of every kind, and of everything else that has one, by what they are of."""
    found = {}
    for name in SCANS:
        for kind in PICTURES:
            if kind != "values":  # a plot
                for order in (1, 2):
                    found[name, kind, order] = visual.draw(gallery.loops[name], kind, order=order)
    square, rnn = gallery.loops["square"], gallery.loops["rnn"]
    x = np.array([0.5, -0.7, 2.0])
    found |= {
        "two tapes": visual.two_tapes(square),
        "eager": visual.eager(recording(grad(lambda v: v * v + v), 0.7)),
        "dot product": visual.dot_product(lab.dot_product(rnn)),
        "transposed": visual.transposed(gallery.loops["gap"].trace()),
        "clamp": visual.routing("clamp", (x, -0.5, 1.0)),
        "breaking": visual.breaking(lab.break_rule(square, "accumulate-overwritten", 3)),
    }
    return found


def legend_of(scene):
    """Pairs of a look and the word for it, as a reader finds them: a swatch, then words."""
    shapes = list(scene.walk())
    for box, text in pairwise(shapes):
        if not isinstance(box, Box) or box.heat is not None:
            continue
        if (box.width, box.height) == SWATCH and isinstance(text, Text):
            look = scene.theme.look(box.role, box.faded)
            yield (look.fill, look.stroke, look.line, look.hatch), text.content.split(":")[0]


def confusions(pictures):
    """Looks of two meanings, and meanings of two looks."""
    pairs = {pair for scene in pictures for pair in legend_of(scene)}
    looks, words = [look for look, _ in pairs], [word for _, word in pairs]
    yield from (pair for pair in pairs if looks.count(pair[0]) > 1 or words.count(pair[1]) > 1)


def unexplained(scene):
    """Roles that are drawn and that the legend does not have; frames tell no role."""
    boxes = [s for s in scene.walk() if isinstance(s, Box) and s.heat is None]
    shown = {Role.UNNEEDED if box.faded else box.role for box in boxes}
    told = {box.role for box in boxes if (box.width, box.height) == SWATCH}
    return shown - told - {Role.PANEL}


def test_a_look_has_one_meaning_and_a_meaning_one_look():
    assert len({word for scene in scenes().values() for _, word in legend_of(scene)}) > 12
    assert list(confusions(scenes().values())) == []


def test_in_print_a_look_has_one_meaning_as_well():
    printed = [replace(scene, theme=PRINT) for scene in scenes().values()]
    assert list(confusions(printed)) == []
    plain = {role: replace(look, hatch=Hatch.NONE) for role, look in PRINT.looks.items()}
    without = [replace(scene, theme=replace(PRINT, looks=plain)) for scene in printed]
    assert {"given", "computed"} <= {word for _, word in confusions(without)}


SLOTS = {Role.READ, Role.REUSED, Role.PRESERVED, Role.OVERWRITTEN, Role.WAITING}


def told_otherwise(pictures):
    """What legends say of a slot that a step reads, but for the role's own words or its name."""
    for scene in pictures:
        for box, text in pairwise(scene.walk()):
            if not isinstance(box, Box) or (box.width, box.height) != SWATCH or box.faded:
                continue
            if box.role in SLOTS and text.content not in (box.role.value, box.role.word):
                yield text.content


def test_what_a_step_reads_is_explained_alike_in_all_pictures():
    """Of memory bytes are told, and no slots; no other kind has words of its own for them."""
    found = {key: scene for key, scene in scenes().items() if "memory" not in key}
    assert {kind for _, kind, *_ in (k for k in found if isinstance(k, tuple))} > {"ssa", "taps"}
    scans = [scene for key, scene in found.items() if isinstance(key, tuple)]
    assert set(told_otherwise(scans)) == set()
    scene = visual.draw(gallery.loops["square"], "tapes")
    kept = next(s for s in scene.walk() if isinstance(s, Text) and "preserved:" in s.content)
    other = tuple(replace(s, content="preserved: kept") if s == kept else s for s in scene.shapes)
    assert set(told_otherwise([replace(scene, shapes=other)])) == {"preserved: kept"}


def test_every_role_that_is_drawn_is_explained():
    found = {name: unexplained(scene) for name, scene in scenes().items()}
    assert {name: roles for name, roles in found.items() if roles} == {}


def test_the_checks_see_what_is_wrong():
    scene = visual.draw(gallery.loops["square"], "tapes")
    other = tuple(
        replace(s, content="product: of two") if getattr(s, "content", "")[:9] == "preserved" else s
        for s in scene.shapes
    )
    wrong = replace(scene, shapes=other)
    assert {word for _, word in confusions([scene, wrong])} == {"preserved", "product"}
    green = {**LIGHT.looks, Role.SEED: LIGHT.looks[Role.PRESERVED]}
    alike = replace(scene, theme=replace(LIGHT, looks=green))
    assert "seed" in {word for _, word in confusions([alike])}
    without = [s for s in scene.shapes if not (isinstance(s, Box) and s.role is Role.SEED)]
    assert unexplained(replace(scene, shapes=tuple(without))) == {Role.SEED}


@pytest.mark.parametrize("loop", ["square", "fibonacci", "logistic", "window"])
def test_both_halves_of_two_tapes_colour_a_gradient_alike(loop):
    scene = visual.two_tapes(gallery.loops[loop])
    roles = {}
    for group in scene.groups():
        boxes = [s for s in group.shapes if isinstance(s, Box) and s.heat is None]
        if group.cell and boxes:
            roles.setdefault(group.cell, []).append(boxes[0].role)
    twice = {key: found for key, found in roles.items() if len(found) > 1}
    assert twice
    assert {key: found for key, found in twice.items() if len(set(found)) > 1} == {}


# Strips.


def strips(scene):
    """The cells with strips: what they show, and their patches."""
    for group in scene.groups():
        patches = [s for s in group.shapes if isinstance(s, Box) and s.heat is not None]
        if patches:
            yield group, patches


@pytest.mark.parametrize("kind", ["tapes", "unrolled", "rolled"])
def test_strips_of_a_quantity_are_on_one_scale(kind):
    """Patches times what the legend says is the full colour are the entries themselves."""
    loop = gallery.loops["rnn"]
    scene = visual.draw(loop, kind)
    lines = [t.content for t in scene.walk() if isinstance(t, Text)]  # the last ones are folded
    told = " ".join(lines[next(n for n, line in enumerate(lines) if "full colour:" in line) :])
    scales = dict(
        reversed(part.strip().removeprefix("±").split(" of "))
        for part in told.removeprefix("full colour: ").split(",")
    )
    seen = set()
    for group, patches in strips(scene):
        entries = np.array(eval(group.title.partition(" = ")[2].split(" (")[0])).ravel()
        scale = float(scales[quantity(group.title)])
        found = np.array([patch.share for patch in patches]) * scale
        np.testing.assert_allclose(found, entries, atol=1e-3 * scale)
        seen.add(quantity(group.title))
    assert seen == set(scales)


def test_negative_entries_stand_in_the_lower_half():
    for _, patches in strips(visual.draw(gallery.loops["rnn"], "tapes")):
        bottom = {round(patch.y + patch.height) for patch in patches}
        for patch in patches:
            assert round(patch.filled.y + patch.filled.height) in bottom
        rows = {}
        for patch in patches:
            rows.setdefault(round(patch.y + patch.height), []).append(patch.filled)
        for row in rows.values():
            low = [patch.height for patch in row if patch.heat < 0]
            high = [patch.height for patch in row if patch.heat > 0]
            assert not (low and high) or max(low) < min(high)


def test_a_larger_vector_is_never_paler():
    loop = lab.Loop(lambda v: v * 8, (lab.State("v", np.array([1.0, -0.5])),), n_steps=2)
    sizes = {}
    for group, patches in strips(visual.draw(loop, "tapes")):
        if isinstance(group, Group) and group.title.startswith("v"):
            sizes[group.title[:2]] = max(abs(patch.share) for patch in patches)
    assert sizes == pytest.approx({"v₀": 1 / 64, "v₁": 1 / 8, "v₂": 1.0})


def test_a_strip_of_many_entries_says_how_many_it_shows():
    loop = lab.Loop(lambda v: v * 0.5, (lab.State("v", np.arange(64.0)),), n_steps=2)
    told = visual.draw(loop, "tapes").text()
    assert "of more than 8 entries a strip shows 8" in told
    assert "of more than 8 entries" not in visual.draw(gallery.loops["rnn"], "tapes").text()


def test_quantities():
    assert quantity("∂₂C″/∂x₃ = 0.1") == "dC″/dx"
    assert quantity("dC′/d(dC/dx₁₂) = [1, 2] (2)") == "dC′/d(dC/dx)"
    assert quantity("prey[3] = 1") == "prey"
    assert quantity("C: not written yet") == ""


def test_dark_pictures_have_the_same_legend():
    light = {w for _, w in legend_of(visual.draw(gallery.loops["square"], "tapes"))}
    scene = visual.draw(gallery.loops["square"], "tapes", "dark")
    assert scene.theme is DARK
    assert {w for _, w in legend_of(scene)} == light


@pytest.mark.parametrize("kind", ["equations", "unrolled", "ssa"])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_a_part_of_a_gradient_is_told_with_the_whole(name, order, kind):
    scene = visual.draw(gallery.loops[name], kind, order=order)
    written = [shape.content for shape in scene.walk() if isinstance(shape, Text)]
    parts = {found for one in written for found in re.findall(r"^∂([₁-₉])(C[′″]/)∂(\w+)", one)}
    for number, above, variable in parts:
        whole = f"d{above}d{variable.rstrip('₀₁₂₃₄₅₆₇₈₉')}, the whole, adds up"
        assert any(one.startswith(whole) for one in written), (number, above, variable)


@pytest.mark.parametrize(("name", "parameter"), [("newton", "a"), ("coupled", "birth")])
def test_the_parts_that_are_told_are_the_whole(name, parameter):
    """The slope of the first derivative over the parameter is the sum of all that is named."""
    loop = gallery.loops[name]
    trace = loop.trace(order=2)
    part = f"∂₁C′/∂{parameter}"
    told = wholes_of(trace)[part]
    numbers = [int(number) for number in re.findall(r"of Scan (\d+)", told)]
    names = re.findall(r"∂[₁-₉]\S+(?= of)", told)
    total = 0.0
    for number, label in zip(numbers, names, strict=True):
        named = NamedScan(trace, number - 1)
        (tape,) = [t for t in named.scan.held if named.tape_label(t, None) == label]
        total += float(tape.final[-1])

    def slope(value):
        return float(loop.with_values({parameter: value}).trace(order=1).outputs[1])

    (at,) = [p.value for p in trace.scans[0].parameters if p.name == parameter]
    measured = check.finite_differences(slope, float(at))
    assert total == pytest.approx(float(measured), rel=1e-4, abs=1e-9)
