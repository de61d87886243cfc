"""Questions of an author: correct and wrong answers, in Python and in a page."""

import pytest
from strange_loops import trace_of

import visual
from visual.exercises.exercise import NUMBER

GROWS = visual.Question(
    "Does <b>x</b> grow?",
    "no",
    "It is less than 1.",
    choices=("yes", "no", "it depends"),
    hint="Square 0.95.",
    mistakes={"yes": "0.95 ** 2 is 0.9025."},
)
HALF = visual.Question("What is 1/2?", 0.5, "By hand.", mistakes={2: "Upside down."})
COUNT = visual.Question("How many?", "3", "Count.", choices=("2", "3", "4"))
PAIR = visual.Question("Which taps?", (-1, 0), "Both.", hint="There are two.")
ROOTS = visual.Question("Where is it zero?", (0.5, -2.0), "At both.", tolerance=0.01)
TWICE = visual.Question("Which roots?", (1.0, 1.0), "It is double.")


@pytest.mark.parametrize(
    ("question", "answer", "tries", "outcome", "words"),
    [
        (GROWS, "no", 1, "right", "It is less than 1."),
        (GROWS, 2, 1, "right", "It is less than 1."),
        (GROWS, "yes", 1, "wrong", "0.95 ** 2 is 0.9025. Square 0.95."),
        (GROWS, "yes", 2, "wrong", "0.95 ** 2 is 0.9025. It is less than 1."),
        (GROWS, "it depends", 1, "wrong", "Try another choice. Square 0.95."),
        (GROWS, "perhaps", 1, "not understood", "Expected one of: yes, no, it depends."),
        (COUNT, 3, 1, "right", "Count."),
        (COUNT, 2, 1, "wrong", "Try another choice."),  # not the second choice, which is right
        (HALF, "0.5", 1, "right", "By hand."),
        (HALF, 0.502, 1, "right", "By hand."),
        (HALF, 0.503, 1, "wrong", "Try another number."),
        (HALF, "2", 1, "wrong", "Upside down."),
        (HALF, "a half", 1, "not understood", f"Expected {NUMBER}."),
        (HALF, "0, 5", 1, "not understood", f"Expected {NUMBER}."),
        (PAIR, "0, -1", 1, "right", "Both."),
        (PAIR, "0", 1, "wrong", "The answer is right but incomplete. There are two."),
        (PAIR, "0, 1", 1, "wrong", "Try another number. There are two."),
        (PAIR, "0.001, -1", 1, "wrong", "Try another number. There are two."),
        (ROOTS, "0.5, -2", 1, "right", "At both."),
        (ROOTS, "0.5, 0.501", 1, "wrong", "The answer is right but incomplete."),
        (TWICE, "1", 1, "right", "It is double."),
    ],
)
def test_answers(question, answer, tries, outcome, words):
    verdict = question.check(answer, tries)
    assert (verdict.outcome, verdict.reason) == (outcome, words)


def test_the_solution_is_correct():
    for question, solution in (
        (GROWS, "no"),
        (HALF, "0.5"),
        (PAIR, "0, -1"),
        (visual.Question("?", 1_000_000, "So."), "1000000"),
        (visual.Question("?", 0.9**5, "So."), "0.59049"),
        (visual.Question("?", 0.1234567891, "So.", tolerance=1e-9), "0.1234567891"),
    ):
        task = question.task
        assert set(task.solution.split(", ")) == set(solution.split(", "))
        assert task.check(task.solution).is_right


def test_a_question_without_and_with_pictures():
    assert GROWS._repr_mimebundle_()["text/plain"].startswith("Does <b>x</b> grow?\n(one of: yes")
    assert "<b>" not in GROWS.page()
    tape = visual.tapes(trace_of("square"))
    question = visual.Question("Which slot?", 1, "It is.", shown=tape)
    assert tape.svg() in question.page()
    assert 'class="picture revealed"' not in question.page()
    series = visual.Exercises((GROWS, visual.Exercise(trace_of("square"))))
    assert series.page().count('class="exercise"') == 2
