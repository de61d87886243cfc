"""Exercises as HTML: a page that works offline without Python, and what a notebook shows."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visual.answers import Answer
from visual.page import document
from visual.svg import text

if TYPE_CHECKING:
    from visual.exercise import Exercise, Exercises

MODULE = Path(__file__).with_name("exercise.js")
STYLE = """\
.exercise{margin:0 0 2.5rem}
.exercise h2{font-size:1.15rem;margin:0 0 .3rem}
.exercise .question{font-weight:600;max-width:50rem;overflow-wrap:anywhere}
.exercise .picture{overflow-x:auto}
.exercise form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;margin:.6rem 0}
.exercise label{display:block;flex:1 1 18rem;max-width:34rem}
.exercise input{display:block;font:inherit;width:100%;box-sizing:border-box;padding:.35rem .5rem}
.exercise button,.again{font:inherit;padding:.35rem .9rem}
.exercise [role=button]{cursor:pointer}
.exercise [role=button]:focus-visible{outline:3px solid;outline-offset:2px}
.exercise [aria-pressed=true]>rect{stroke-width:4}
.exercise button[aria-disabled]{opacity:.5}
.verdict{min-height:1.5em;max-width:50rem;margin:.4rem 0;overflow-wrap:anywhere}
.verdict[data-outcome]{border-left:.3rem double;padding-left:.7rem}
.verdict[data-outcome=right]{border-left-style:solid}
.score{font-weight:600}
"""
SCORE = (
    '<p class="score" role="status"></p>\n'
    '<p><button type="button" class="again">Start again</button></p>'
)


def to_page(exercises: Sequence["Exercise"]) -> str:
    """One page of several exercises."""
    plural = "Exercise" if len(exercises) == 1 else f"{len(exercises)} exercises"
    title = f"{plural}: predict, then reveal"
    body = (
        f"<h1>{text(title)}</h1>\n"
        "<p>Say what will happen before you look. A right first answer scores 2 points, a right "
        "second one 1. Cells of the tape can be chosen instead of typing a position.</p>\n"
        f"<noscript><p>This page needs JavaScript to check answers.</p></noscript>\n"
        f"{content(exercises)}"
    )
    script = inline([answer_data(exercise.task.answer) for exercise in exercises])
    return document(title, exercises[0].shown.theme, body, script, STYLE)


def inline(answers: Sequence[Mapping[str, Any]]) -> str:
    """The module as the script of a page, whose exercises have these answers, in their order."""
    # Within a script, nothing may look like markup.
    made = json.dumps(answers).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{source()}\nstart(document, {made});\n"


def content(exercises: Sequence["Exercise"]) -> str:
    """The questions, their pictures and the places for answers, and the score."""
    sections = "\n".join(
        section(exercise, f"Question {number} of {len(exercises)}")
        for number, exercise in enumerate(exercises, 1)
    )
    return f"{sections}\n{SCORE}"


def section(exercise: "Exercise", heading: str, tag: str = "h2") -> str:
    """A question, its picture and the place for its answer; no other has the same heading."""
    expected = text(exercise.form.value)
    return (
        f'<section class="exercise" aria-label="{heading}">\n'
        f'<{tag} class="number">{heading}</{tag}>\n'
        f'<p class="question">{text(exercise.question)}</p>\n'
        f'<div class="picture shown" role="region" aria-label="Picture of {heading}" '
        f'tabindex="0">{exercise.shown.svg()}</div>\n'
        f"<form><label>Your answer: {expected} "
        '<input autocomplete="off" spellcheck="false"></label>'
        '<button type="submit">Check</button>'
        '<button type="button" class="show">Show the answer</button></form>\n'
        '<p class="verdict" role="status"></p>\n'
        f'<div class="picture revealed" role="region" aria-label="Answer to {heading}" '
        f'tabindex="0" hidden>{exercise.revealed.svg()}</div>\n</section>'
    )


def excerpt(exercise: "Exercise", call: str = "exercise.check") -> str:
    """The question and its picture, for a notebook without widgets."""
    return (
        f"<p><strong>{text(exercise.question)}</strong></p>"
        f'<div style="overflow-x: auto">{exercise.shown.svg()}</div>'
        f"<p>Answer with <code>{call}(…)</code>: {text(exercise.form.value)}.</p>"
    )


def score_text(exercises: "Exercises") -> str:
    """How far a series has come."""
    done, count = exercises.number, len(exercises.members)
    return f"{exercises.points} of {exercises.most} points; {done} of {count} answered."


def answer_data(answer: Answer) -> dict[str, Any]:
    """An answer as plain JSON, which the module compares with."""
    return {
        "expected": answer.form.value,
        "isSet": answer.form.is_set,
        "right": answer.right,
        "tolerance": answer.tolerance,
        "rule": answer.rule,
        "working": answer.working,
        "otherwise": answer.otherwise,
        "incomplete": answer.incomplete,
        "mistakes": [[mistake.value, mistake.reason] for mistake in answer.mistakes],
        "cells": dict(answer.cells),
        "beside": dict(answer.beside),
    }


def source() -> str:
    """The module that checks answers in a page."""
    return MODULE.read_text(encoding="utf-8")
