r"""Figures for TeX: every shape and label is there, TeX reads it, and a name is never a command."""

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from strange_loops import LOOPS, one

import visual
from lab.loops import gallery
from visual.backends.tex import escaped, mathematics, words
from visual.scene.shapes import Arrow, Box, Polyline, Scene, Text
from visual.scene.theme import DARK

pytestmark = pytest.mark.sizes

NAMES = [r"\input{x}", "%x#$&_^~{}", "évil 中文", r"}\end{tikzpicture}", "$x$^^41", "🙂ȩ́", "α"]
HOSTILE = {
    **{name: LOOPS[name] for name in ("hostile name", "unicode name", "latex name")},
    **{name: one(name, 1.0) for name in NAMES},
}
# All that a figure needs of TeX: whatever else has a backslash is a name that ran away.
KNOWN = re.findall(
    r"\w+",
    "begin end providecommand ifdefined Umathchar char relax else fi mbox fboxsep fbox rule "
    "definecolor path node draw fill fontsize selectfont bfseries boldmath scantapechar "
    "scantapebox textbackslash textasciicircum textasciitilde textless textgreater textbar "
    "usepackage mathrm mathbin mathsf cdot leftarrow rightarrow times partial ldots cdots pm "
    "approx surd infty nabla le ge exp log sin cos tan sinh cosh tanh max min alpha theta Omega "
    "mu epsilon gamma c",
)


def structure(tex):
    """What a reader of its own finds in a tikzpicture: nodes, lines, and what is wrong in it."""
    wrong = [] if tex.isascii() else ["letters beyond ASCII"]
    plain = re.sub(r"\\[\\{}%#$&_]", "", tex)
    plain = "\n".join(re.sub(r"%.*", "", line) for line in plain.splitlines())
    depth = [0]
    for sign in re.findall(r"[{}]", plain):
        depth.append(depth[-1] + (1 if sign == "{" else -1))
    if depth[-1] or min(depth) < 0:
        wrong.append("braces")
    dollars = [line for line in plain.splitlines() if line.count("$") % 2]
    wrong += [f"dollars: {line}" for line in dollars]
    if re.findall(r"\\(begin|end){(\w+)}", plain) != [
        ("begin", "tikzpicture"),
        ("end", "tikzpicture"),
    ]:
        wrong.append("environments")
    wrong += sorted(set(re.findall(r"\\([a-zA-Z]+)", plain)) - {*KNOWN})
    nodes = re.findall(r"\\node\[[^]]*\](?: \(s\))? at \(([-\d.]+),([-\d.]+)\)", plain)
    rectangles = re.findall(r"\\(?:path|fill)\[[^]]*\] \(([-\d.]+),([-\d.]+)\) rectangle", plain)
    heads = re.findall(r"-- cycle;", plain)
    return [tuple(map(float, at)) for at in nodes], rectangles[1:], len(heads), wrong


def check(scene, tex):
    """Every text has a node at its place, every box a rectangle, every arrow a head."""
    nodes, rectangles, heads, wrong = structure(tex)
    assert wrong == []
    shapes = list(scene.walk())
    texts = [(s.x, s.y) for s in shapes if isinstance(s, Text)]
    assert len(nodes) == len(texts)
    assert np.allclose(nodes, texts, rtol=0, atol=0.051)
    corners = {(round(float(x)), round(float(y))) for x, y in rectangles}
    boxes = [s for s in shapes if isinstance(s, Box)]
    for box in (s if s.heat is None else s.filled for s in boxes):
        near = {(round(box.x + dx), round(box.y + dy)) for dx in (-0.1, 0.1) for dy in (-0.1, 0.1)}
        assert near & corners
    assert heads == sum(isinstance(s, Arrow) for s in shapes)


@pytest.mark.parametrize("kind", ["tapes", "moment", "unrolled", "rolled", "equations", "values"])
@pytest.mark.parametrize("name", ["square", "gap", "rnn"])
def test_everything_is_in_the_figure(tmp_path, kind, name):
    scene = visual.draw(gallery.loops[name], kind)
    check(scene, scene.save(tmp_path / "figure.tex").read_text())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_no_command(tmp_path, name):
    scene = visual.draw(HOSTILE[name])
    check(scene, scene.save(tmp_path / "figure.tex").read_text())


def test_the_reader_sees_what_is_wrong():
    scene = visual.draw(gallery.loops["square"])
    good = visual.draw(gallery.loops["square"])
    tex = written(good)
    check(scene, tex)
    for wrong in (
        tex.replace("x_{4}", "x_{4", 1),
        tex.replace("$", "", 1),
        tex.replace("1.327", r"\input{x}", 1),
        tex.replace("1.327", r"}\end{tikzpicture}", 1),
        tex.replace("initial", "ïnitial"),
        re.sub(r"\\node.*\n", "", tex, count=1),
        re.sub(r"\\node(.*)at \(", r"\\node\1at (9", tex, count=1),
        re.sub(r"\\path\[fill.*\n", "", tex, count=1),
        tex.replace("-- cycle", "", 1),
    ):
        assert wrong != tex
        with pytest.raises(AssertionError):
            check(scene, wrong)


def written(scene):
    from visual.scene.formats import content

    return content(".tex", scene)


TEX = {
    "x₃": "$x_{3}$",
    "dC/dx₃": r"$\mathrm{d}C/\mathrm{d}x_{3}$",
    "dC″/dhunters₁": r"$\mathrm{d}C''/\mathrm{d}\mathrm{hunters}_{1}$",
    "∂C′/∂x₀": r"$\partial C'/\partial x_{0}$",
    "buf[1] ← buf[0]·2·x₃ + old": r"$\mathrm{buf}[1]\leftarrow \mathrm{buf}[0]\cdot 2\cdot x_{3}+"
    r"\mathrm{old}$",
    "Wᵀ @ h₄₋ₖ²": r"$W^{\mathsf{T}}\mathbin{@}h_{4-k}^{2}$",
    "tanh(θ)": r"$\tanh(\theta )$",
    "‖1.1‖ 3×2": r"$\|1.1\|\ 3\times 2$",
    "1,024": "$1{,}024$",
    "10⁻¹": "$10^{-1}$",
    "if x then y": r"$\mathrm{if}\ x\ \mathrm{then}\ y$",
}


@pytest.mark.parametrize("content", TEX)
def test_labels_are_mathematics(content):
    assert mathematics(content) == TEX[content]


def test_words_stay_words():
    told = words("step k: x[t] is xₖ₊₁; a state, 50% of it")
    assert told == r"step $k$: $x[t]$ is $x_{k+1}$; a state, 50\% of it"
    assert escaped("a_b\\c") == r"a\_b\textbackslash{}c"
    assert escaped("é中") == r"\'{e}\scantapechar{4E2D}"


def test_only_a_dark_figure_has_a_ground():
    shapes = (Text(10, 20, "x"), Polyline(((0, 0), (5, 5)), dots=True))
    light = written(Scene(100, 50, shapes, "a title\nof two lines \\input{x}", ""))
    assert light.startswith("% a title?of two lines \\input{x}\n% needs")
    assert light.count("circle[") == 2
    assert r"\fill[scantape111827] (0,0) rectangle (100,50);" not in light
    dark = written(replace(Scene(100, 50, shapes, "", ""), theme=DARK))
    assert r"\fill[scantape111827] (0,0) rectangle (100,50);" in dark


def test_it_is_as_wide_as_it_is_asked_for():
    scene = visual.draw(gallery.loops["square"], width="85mm")
    tex = written(scene)
    unit = float(re.search(r"x=([\d.]+)mm", tex)[1])
    width = float(re.search(r"bounding box\] \(0,0\) rectangle \(([\d.]+),", tex)[1])
    assert unit * width == pytest.approx(85, abs=0.05)
    sizes = [float(size) for size in re.findall(r"\\fontsize{([\d.]+)}", tex)]
    assert min(sizes) / 72.27 * 72 > 6.98


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no TeX")
def test_tex_sets_all_of_them(tmp_path):
    """One document of the pictures of three loops and of all hostile names."""
    scenes = [visual.draw(gallery.loops[name], width="85mm") for name in ("square", "rnn", "gap")]
    scenes += [visual.draw(gallery.loops["square"], "moment"), *map(visual.draw, HOSTILE.values())]
    paper = r"\documentclass{article}\usepackage{tikz}\usepackage[paperwidth=300mm,"
    paper += "paperheight=400mm,margin=5mm]{geometry}\\begin{document}\n"
    paper += "\n\\clearpage\n".join(map(written, scenes))
    for ending in ("", r"\undefinedcommand"):
        (tmp_path / "paper.tex").write_text(f"{paper}{ending}\n\\end{{document}}\n")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=200)
        assert (done.returncode == 0) is not ending or ending
        assert bool(done.returncode) == bool(ending)
