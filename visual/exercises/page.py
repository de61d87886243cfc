"""Questions as HTML, for a widget, for its static form, and for a page without Python."""

from collections.abc import Sequence
from pathlib import Path

from visual.backends.page import in_script, region
from visual.backends.svg import text
from visual.exercises.answers import Answer, ExerciseTask
from visual.scene.shapes import Scene
from visual.widgets.module import bundle

FILE = Path(__file__).with_name("exercise.js")
MODULE = bundle(FILE)  # the script that checks answers in a page
STYLE = FILE.with_suffix(".css").read_text(encoding="utf-8")
SCORE = (
    '<p class="score" role="status"></p>\n'
    '<p><button type="button" class="again">Start again</button> '
    '<button type="button" class="export">Save the score as a file</button></p>'
)


def content(tasks: Sequence[ExerciseTask]) -> str:
    """Return the HTML of the questions and the score, with the answers as JSON for the script."""
    calls = [f"exercises.tasks[{n}].check" for n in range(len(tasks))]
    calls = calls if tasks[1:] else ["exercise.check"]
    questions = "\n".join(map(_section, tasks, calls))
    answers = in_script([answer_data(task.answer) for task in tasks])
    return (
        f'<div data-exercises>{questions}\n<div class="scored">{SCORE}</div>\n'
        f'<script type="application/json">{answers}</script></div>'
    )


def _section(task: ExerciseTask, call: str) -> str:
    """Return the HTML of a question, with its pictures and the input field.

    For readers without a script, the text names the `call` in Python that checks an answer.
    """
    return (
        '<section class="exercise" aria-label="Question">\n<p class="number">Question</p>\n'
        f'<p class="question">{text(task.question)}</p>\n'
        f"{_picture(task.shown, 'shown', 'Picture of question')}"
        f"<p class='call'>Without JavaScript, answer in Python with <code>{call}(…)</code>: "
        f"{text(task.answer.expected)}.</p><form>{_field(task.answer)}"
        '<button type="submit">Check</button>'
        '<button type="button" class="show">Show the answer</button></form>\n'
        '<p class="verdict" role="status"></p>\n'
        f"{_picture(task.revealed, 'revealed', 'Answer to question', hidden='')}"
        "</section>"
    )


def _picture(picture: Scene | None, use: str, name: str, **attributes: str) -> str:
    if picture is None:
        return ""
    classes = f"picture {use} {picture.theme.name}"
    return region(name, picture.svg(), "div", **{"class": classes}, **attributes) + "\n"


def _field(answer: Answer) -> str:
    """Return the HTML of the input for an answer: a text field, or choices."""
    if not answer.choices:
        return (
            f"<label>Your answer: {text(answer.expected)} "
            '<input name="answer" autocomplete="off" spellcheck="false"></label>'
        )
    radios = "".join(
        f'<label><input type="radio" name="answer" value="{number}"> {text(choice)}</label>'
        for number, choice in enumerate(answer.choices, 1)
    )
    return f"<fieldset><legend>Your answer</legend>{radios}</fieldset>"


def answer_data(answer: Answer) -> dict[str, object]:
    """Return an answer as data for ``exercise.js``."""
    texts = {"solution": answer.solution, "incomplete": answer.incomplete}
    return vars(answer) | texts | {"mistakes": [*map(list, answer.mistakes.items())]}
