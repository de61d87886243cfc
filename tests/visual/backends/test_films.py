"""Animated pictures have a different frame for each step, without shapes of later steps."""

import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from in_browser.chromium import needs_browser
from pictures import SVG, words_of
from PIL import Image, ImageSequence
from strange_loops import trace_of

import visual
from lab.loops import gallery
from visual.backends.films import frames

SQUARE = gallery.loops["square"]
KINDS = ("tapes", "unrolled")


def images(data):
    """Return the frames of a film, and the time of each frame in milliseconds."""
    pictures, times = [], []
    with Image.open(io.BytesIO(data)) as film:
        for frame in ImageSequence.Iterator(film):
            pictures.append(np.asarray(frame.convert("RGB"), "int32"))
            times.append(film.info["duration"])
    return pictures, times


def problems(scene, data):
    """Return the faults of a film of a scene."""
    pictures, times = images(data)
    wrong = [] if len(pictures) == len(scene.moments) else [f"{len(pictures)} frames"]
    pairs = pairwise(pictures)
    wrong += ["a frame twice" for first, second in pairs if np.array_equal(first, second)]
    if len(set(times[:-1])) > 1 or times[-1] <= times[0]:
        wrong.append("times")
    last = np.asarray(Image.open(io.BytesIO(scene.png())).convert("RGB"), "int32")
    if np.abs(pictures[-1] - last).mean() > 0.2:
        wrong.append("the last frame is not the picture")
    return wrong


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_has_a_frame(kind):
    scene = visual.draw(SQUARE, kind)
    data = scene.rendered(".gif")
    assert problems(scene, data) == []
    assert len(data) < 1_000_000


def test_a_faulty_film_is_detected():
    scene = visual.draw(SQUARE)
    arrays, _ = images(scene.rendered(".gif"))
    pictures = [Image.fromarray(frame.astype("uint8")) for frame in arrays]
    for wrong, times in (
        (pictures[:-1], [9] * 6 + [90]),
        (pictures, [9] * 8),
        (pictures[::-1], [9] * 7 + [90]),
    ):
        film = io.BytesIO()
        fast = {"lossless": True, "quality": 0, "method": 0}
        wrong[0].save(film, "WEBP", save_all=True, append_images=wrong[1:], duration=times, **fast)
        assert problems(scene, film.getvalue())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["square", "gap", "coupled"])
def test_no_frame_shows_a_later_value(kind, name):
    """No frame shows the gradient of a later step, and no frame removes a text."""
    scene, trace = visual.draw(gallery.loops[name], kind), trace_of(name)
    words = [words_of(frame) for frame in frames(scene)]
    assert len(words) == len(scene.moments)
    assert words[-1] == words_of(scene)
    for before, after in pairwise(words):
        assert len(set(after)) >= len(set(before))
        assert set(before) <= set(after)
    loop, gradient = trace.scans
    values = [v for tape in loop.tapes for v in tape.final] + [0, 1]
    known = {f"{float(v):.3f}" for v in values}
    for step in range(gradient.steps):
        results = {f"{w.values[step]:.3f}" for t in gradient.tapes for w in t.writes} - known
        earlier = [word for frame in words[: loop.steps + step] for word in frame]
        assert not any(result in word for word in earlier for result in results)
        known |= results
    assert any(result in word for word in words[-1] for result in results)


def moving_svg(scene):
    return scene.rendered(".svg", animate=True)


def test_a_film_takes_at_most_a_minute():
    svg = moving_svg(visual.draw(SQUARE, "machine", order=3))  # more than a hundred moments
    assert 55_000 < int(re.search(r"(\d+)ms step-end", svg)[1]) <= 60_000


def test_an_svg_moves_without_a_script():
    scene = visual.draw(SQUARE)
    svg = moving_svg(scene)
    root = ElementTree.fromstring(svg)
    names = {element.tag.partition("}")[2] for element in root.iter()}
    assert "script" not in names
    assert "style" in names
    assert len(svg.encode()) < 1_000_000
    assert svg.count("@keyframes") == len(scene.moments) - 1
    percentages = [float(share) for share in re.findall(r"([\d.]+)%\{opacity:1\}", svg)]
    assert percentages == sorted(set(percentages))
    assert svg.index("prefers-reduced-motion:no-preference") < svg.index("@keyframes")
    still = re.sub(r"<style>.*?</style>| class=\"[\w-]+\"", "", svg)
    assert still == scene.svg()


@needs_browser
def test_an_svg_is_dark_on_a_dark_screen(page):
    """On a dark or light screen, boxes have the colors of the dark or light picture."""
    looks = """() => [...document.querySelectorAll("rect")].map(getComputedStyle)
        .map(({ fill, stroke }) => [fill, stroke])"""
    colors = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        still = visual.draw(SQUARE).themed(scheme)
        for svg in (moving_svg(visual.draw(SQUARE)), still.svg()):
            page.set_content(svg)
            colors.append(page.evaluate(looks))
    assert colors[0] == colors[1] != colors[2] == colors[3]
    assert "prefers-color-scheme" not in moving_svg(still)


@needs_browser
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_an_svg_shows_its_moments_in_turn(page, motion):
    """A frame lasts 0.8 s and shows only its numbers; reduced motion shows the last frame."""
    scene = visual.draw(SQUARE)
    page.emulate_media(reduced_motion=motion)
    page.set_content(moving_svg(scene))
    expected = [sorted(words_of(frame)) for frame in frames(scene)]
    seen = """t => {
      for (const a of document.getAnimations()) { a.pause(); a.currentTime = t; }
      const hidden = e => e && e.tagName !== "BODY" &&
        (getComputedStyle(e).opacity === "0" || hidden(e.parentElement));
      return [...document.querySelectorAll("svg text")].filter(e => !hidden(e))
        .map(e => e.textContent);
    }"""
    for number, texts in enumerate(expected):
        shown = sorted(page.evaluate(seen, 800 * number + 400))
        assert shown == (texts if motion == "no-preference" else expected[-1])


def test_a_film_moves_gradients_to_factors_and_products_to_slots():
    """A product is 2·x times the gradient of the next x, and starts where the gradient ends."""
    film = visual.draw(SQUARE, "machine", cost="sum").rendered(".svg", animate=True)
    root = ElementTree.fromstring(film)
    moving = [
        group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}animateMotion") is not None
    ]
    numbers, gradient = [], 1.0
    for exponent in (8, 4, 2, 1):
        product = 2 * 0.95**exponent * gradient
        numbers += [gradient, product]
        gradient = product + (exponent > 1)
    shown = [float(group.findtext(f"{SVG}text")) for group in moving]
    assert shown == pytest.approx(numbers, rel=5e-4)
    times = [float(group.get("data-until")) - float(group.get("data-step")) for group in moving]
    assert times == [0.5] * len(moving)
    for first, second in zip(moving[::2], moving[1::2], strict=True):
        assert first.get("data-until") == second.get("data-step")
        path = first.find(f"{SVG}animateMotion").get("path")
        moved = float(path.split("L")[-1].split()[0])
        centers = [float(group.find(f"{SVG}text").get("x")) for group in (first, second)]
        assert moved < 0  # to the left
        assert centers[0] + moved == pytest.approx(centers[1], abs=0.2)
