"""Questions as HTML: an offline page without Python, and the content of a widget."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from visual.backends.page import document, in_script, region
from visual.backends.svg import text
from visual.exercises.answers import Answer, ExerciseTask
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES
from visual.widgets.module import bundle

MODULE = Path(__file__).with_name("exercise.js")
STYLE = """\
.exercise{margin:0 0 1.5rem}
.exercise h2{font-size:1.15rem;margin:0 0 .3rem}
.exercise .question{font-weight:600;max-width:50rem;overflow-wrap:anywhere}
.exercise .picture{overflow-x:auto}
.exercise form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;margin:.6rem 0}
.exercise label{display:block;flex:1 1 18rem;max-width:34rem}
.exercise fieldset{display:flex;flex-direction:column;gap:.2rem;flex:1 1 100%;margin:0;
padding:0;border:0}
.exercise fieldset label{display:flex;gap:.4rem;align-items:baseline;flex:none}
.exercise input:not([type=radio]){display:block;font:inherit;width:100%;padding:.35rem .5rem}
.exercise input{box-sizing:border-box}
.exercise button,.again,.export{font:inherit;padding:.35rem .9rem}
.exercise button[aria-disabled]{opacity:.5}
.verdict{min-height:1.5em;max-width:50rem;margin:.4rem 0;overflow-wrap:anywhere}
.verdict[data-outcome]{border-left:.3rem double;padding-left:.7rem}
.verdict[data-outcome=right]{border-left-style:solid}
.score{font-weight:600}
[data-exercises]:not([data-started]) :is(form,.scored),[data-exercises][data-started] .call{
display:none}
"""
SCORE = (
    '<p class="score" role="status"></p>\n'
    '<p><button type="button" class="again">Start again</button> '
    '<button type="button" class="export">Save the score as a file</button></p>'
)


def to_page(tasks: Sequence[ExerciseTask]) -> str:
    """Return an HTML page with questions and a score."""
    plural = "Exercise" if len(tasks) == 1 else f"{len(tasks)} exercises"
    title = f"{plural}: predict, then reveal"
    body = (
        f"<h1>{text(title)}</h1>\n<p>Answer before you look. A right first answer scores 2 points, "
        "a right second answer 1.</p>\n<noscript><p>This page needs JavaScript to check answers."
        f"</p></noscript>\n{content(tasks, map(section, tasks))}"
    )
    shown = tasks[0].shown
    return document(title, shown.theme if shown else THEMES["light"], body, source(), STYLE)


def section(task: ExerciseTask, tag: str = "h2", call: str = "") -> str:
    """Return the HTML of a question, with its pictures and the input field.

    The heading is an element `tag`, to which the script adds a number. For readers without a
    script, the text names the `call` in Python that checks an answer.
    """
    instruction = (
        f"<p class='call'>Answer with <code>{call}(…)</code>: {text(task.answer.expected)}.</p>"
    )
    return (
        '<section class="exercise" aria-label="Question">\n'
        f'<{tag} class="number">Question</{tag}>\n'
        f'<p class="question">{text(task.question)}</p>\n'
        f"{_picture(task.shown, 'shown', 'Picture of question')}"
        f"{instruction if call else ''}<form>{_field(task.answer)}"
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
            '<input autocomplete="off" spellcheck="false"></label>'
        )
    radios = "".join(
        f'<label><input type="radio" name="choice" value="{number}"> {text(choice)}</label>'
        for number, choice in enumerate(answer.choices, 1)
    )
    return f"<fieldset><legend>Your answer</legend>{radios}</fieldset>"


def fragment(tasks: Sequence[ExerciseTask]) -> str:
    """Return the questions as HTML that any page can contain.

    Where scripts do not run, the HTML names the call in Python that checks an answer. The script
    numbers all questions of the page and shows one score, below the last question.
    """
    calls = [f"exercises.tasks[{n}].check" for n in range(len(tasks))]
    calls = calls if tasks[1:] else ["exercise.check"]
    pairs = zip(tasks, calls, strict=True)
    sections = (section(task, "p", call) for task, call in pairs)
    return (
        f"<style>{STYLE}</style>\n{content(tasks, sections)}\n"
        f'<script type="module">{source()}</script>\n'
    )


def content(tasks: Sequence[ExerciseTask], sections: Iterable[str]) -> str:
    """Return the sections of questions, the score, and the answers as JSON for the script."""
    questions = "\n".join(sections)
    answers = in_script([answer_data(task.answer) for task in tasks])
    return (
        f'<div data-exercises>{questions}\n<div class="scored">{SCORE}</div>\n'
        f'<script type="application/json">{answers}</script></div>'
    )


def answer_data(answer: Answer) -> dict[str, object]:
    """Return an answer as data for ``exercise.js``."""
    return {
        "expected": answer.expected,
        "isSet": answer.form.is_set,
        "right": answer.right,
        "solution": answer.solution,
        "tolerance": answer.tolerance,
        "hints": answer.hints,
        "working": answer.working,
        "otherwise": answer.otherwise,
        "incomplete": answer.incomplete,
        "mistakes": [*map(list, answer.mistakes.items())],
    }


def source() -> str:
    """Return the module that checks answers in a page."""
    return bundle(MODULE)
