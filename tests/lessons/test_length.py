"""No lesson grows: its words, what it asks, and the minutes that it says; `minutes` counts them."""

import jupytext
import pytest
from minutes import LINE, PICTURE, QUESTION, SYMBOL, TASK, WRITTEN, checked, prose, seconds
from nbformat import v4
from sites import LESSONS

WORDS, CHECKED = 550, 3


@pytest.fixture(scope="module")
def lessons():
    return {path: jupytext.read(path) for path in LESSONS}


def test_no_lesson_grows(lessons):
    found = {path.stem: len(prose(one)) for path, one in lessons.items()}
    assert {name: count for name, count in found.items() if count > WORDS} == {}
    asked = {path.stem: sum(map(len, checked(one))) for path, one in lessons.items()}
    assert {name: count for name, count in asked.items() if not 2 <= count <= CHECKED} == {}


TOLD = """Two words of [prose](x), `code` and x₀.

<details>
<summary>One solution</summary>

```python
def mine(x):
    return x
```

</details>
"""


def test_a_longer_lesson_is_seen():
    drawn = v4.new_output("display_data", {"image/svg+xml": "", "text/plain": "one two"})
    code = ("import lab", "a = 1", "visual.draw(a)", "visual.Question(1)", "visual.Work(1)")
    cells = [*map(v4.new_code_cell, code)]
    cells[2].outputs = [drawn]
    begun = v4.new_code_cell("def mine(x):\n    ...", metadata={"nbgrader": {"grade_id": "mine-1"}})
    lesson = v4.new_notebook(cells=[v4.new_markdown_cell(TOLD), *cells, begun])
    assert len(prose(lesson)) == 7
    assert [len(part) for part in checked(lesson)] == [1, 1]
    once = 60 * 7 / 170 + SYMBOL + LINE + PICTURE + 0.8 + QUESTION + TASK + WRITTEN
    assert seconds(lesson) == pytest.approx(once)
    more = [v4.new_markdown_cell("Hm.\n\n## Want more?\n\nMuch."), *cells]
    lesson.cells += [*more, v4.new_markdown_cell("\nEven.\n\nNext: more.")]
    assert [len(part) for part in checked(lesson)] == [1, 1]
    assert seconds(lesson) == pytest.approx(once + 60 * 3 / 170)  # Hm, and where to go next
