"""How long a learner needs for a lesson: what is read, looked at, run, answered and written.

The rates are those of eight readers who noted their minutes.  What stands in a fold, or under
*Want more?*, is not counted.
"""

import math
import re

from sites import ROOT

MOST = 15  # minutes
A_MINUTE = 170  # words that a learner reads in a minute
SYMBOL, LINE = 2, 7  # seconds more for a number or a name of one in prose; for a line of code
PICTURE, IN_PICTURE, LARGEST = 20, 0.4, 120  # seconds; for each of its words; at most
QUESTION, TASK, WRITTEN = 80, 90, 25  # seconds; for every line that is written
APART = re.compile(
    r"<details>.*?</details>|```.*?```|\]\([^)]*\)|\n## Want more\?.*?(?=\nNext:|\Z)", re.DOTALL
)
TOKEN = re.compile(r"\w[\w.'·]*")
IMPORT = re.compile(r"(import|from) |$")
SOLUTION = re.compile(r"<summary>One solution</summary>.*?```python\n(.*?)```", re.DOTALL)


def prose(lesson):
    """Its words, without what is not counted."""
    told = [cell.source for cell in counted(lesson) if cell.cell_type == "markdown"]
    return TOKEN.findall(APART.sub(" ", "\n\n".join(told)))


def is_symbol(word):
    """Whether it is a number, or stands for one: ``7.41``, ``x₀``, ``by_g``, ``w``."""
    return bool(re.search(r"[\d₀-₉_·′]", word)) or (len(word) == 1 and word not in "aAI")


def counted(lesson):
    """Its cells but for those under *Want more?*."""
    is_more = False
    for cell in lesson.cells:
        if cell.cell_type == "markdown":
            is_more = "\n## Want more?" in cell.source or (is_more and "\nNext:" not in cell.source)
        if not is_more or cell.cell_type == "markdown":
            yield cell


def checked(lesson):
    """Its questions, and the tasks that are run."""
    code = [cell for cell in counted(lesson) if cell.cell_type == "code"]
    questions = [cell for cell in code if re.search(r"visual\.(Question|Exercise)\(", cell.source)]
    return questions, [cell for cell in code if "visual.Work(" in cell.source]


def written(lesson):
    """The lines of the solution that are not there before."""
    (solution,) = SOLUTION.findall("\n".join(c.source for c in lesson.cells))
    (begun,) = (c.source for c in lesson.cells if "mine-" in str(c.metadata.get("nbgrader")))
    return len([one for one in lines(solution) if one not in begun.splitlines()])


def lines(source):
    """The lines of code that say something about the subject."""
    return [line for line in source.splitlines() if not IMPORT.match(line)]


def seconds(ran):
    """How long a learner needs for a lesson that was run."""
    words, (questions, tasks) = prose(ran), checked(ran)
    total = 60 * len(words) / A_MINUTE + SYMBOL * sum(map(is_symbol, words))
    total += QUESTION * len(questions) + sum(TASK + WRITTEN * written(ran) for _ in tasks)
    for cell in counted(ran):
        is_asked = cell in (*questions, *tasks) or "nbgrader" in cell.metadata
        if cell.cell_type == "code" and not is_asked:
            drawn = [o.data for o in cell.outputs if "image/svg+xml" in o.get("data", {})]
            total += LINE * (len(lines(cell.source)) - len(drawn))
            told = (len(data["text/plain"].split()) for data in drawn)
            total += sum(min(LARGEST, PICTURE + IN_PICTURE * count) for count in told)
    return total


def takes(ran, path):
    """A lesson that was run takes the minutes that it says, and no more than there are."""
    minutes = math.ceil(seconds(ran) / 60)
    index = (ROOT / "notebooks" / "index.md").read_text(encoding="utf-8")
    assert minutes <= MOST, (path.stem, seconds(ran) / 60)
    lead = path.read_text(encoding="utf-8")
    assert re.search(rf"takes\s+about\s+{minutes}\s+minutes", lead), (path.stem, minutes)
    assert re.search(rf"\({path.stem}\.ipynb\) \| .+? \| {minutes} \|", index), path.stem
