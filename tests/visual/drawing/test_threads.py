"""Eight threads that draw simultaneously produce the bytes of a single thread."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import visual
from lab import gallery
from visual.drawing.catalogue import PICTURES

FORMS = ("svg", "pdf", "png", "html", "txt")


def drawn(task, folder):
    """A picture of a new loop, in all formats."""
    name, kind, theme, number = task
    picture = visual.draw(replace(gallery.loops[name]), kind, theme, order=1)
    written = []
    for form in FORMS if kind == "values" or (kind, name) == ("tapes", "square") else ("svg",):
        path = folder / f"{name}-{kind}-{theme}-{number}.{form}"
        picture.save(path)
        written.append(path.read_bytes())
    return written


def test_threads_draw_the_same_bytes(tmp_path):
    themes = ("light", "dark", "print", "light")
    kinds = [*PICTURES, *["values"] * 5]
    tasks = [(("square", "coupled")[i % 2], kind, themes[i % 4], i) for i, kind in enumerate(kinds)]
    alone = [drawn(task, tmp_path) for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda task: drawn(task, tmp_path), tasks))
    assert [task for task, a, b in zip(tasks, alone, together, strict=True) if a != b] == []
