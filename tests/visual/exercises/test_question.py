"""Questions of an author: right and wrong answers, in Python and in a page."""

import pytest
from in_browser.chromium import Opened, needs_browser

import lab
import visual
from lab.errors import ArgumentError
from visual.exercises.answers import AnswerForm, AnswerOutcome

GROWS = visual.Question(
    "Does <b>x</b> grow?",
    "no",
    "It is less than 1.",
    choices=("yes", "no", "it depends"),
    hint="Square 0.95.",
    mistakes={"yes": "0.95 ** 2 is 0.9025."},
)
HALF = visual.Question("What is 1/2?", 0.5, "By hand.", mistakes={2: "Upside down."})
PAIR = visual.Question("Which taps?", (-1, 0), "Both.", hint="There are two.")
ROOTS = visual.Question("Where is it zero?", (0.5, -2.0), "At both.", tolerance=0.01)
TWICE = visual.Question("Which roots?", (1.0, 1.0), "It is double.")


@pytest.mark.parametrize(
    ("question", "given", "tries", "outcome", "words"),
    [
        (GROWS, "no", 1, "right", "It is less than 1."),
        (GROWS, 2, 1, "right", "It is less than 1."),
        (GROWS, "yes", 1, "wrong", "0.95 ** 2 is 0.9025. Square 0.95."),
        (GROWS, "yes", 2, "wrong", "0.95 ** 2 is 0.9025. It is less than 1."),
        (GROWS, "it depends", 1, "wrong", "Try another choice. Square 0.95."),
        (GROWS, "perhaps", 1, "not understood", "Expected one of: yes, no, it depends."),
        (HALF, "0.5", 1, "right", "By hand."),
        (HALF, 0.502, 1, "right", "By hand."),
        (HALF, 0.503, 1, "wrong", "Try another number."),
        (HALF, "2", 1, "wrong", "Upside down."),
        (HALF, "a half", 1, "not understood", f"Expected {AnswerForm.NUMBER}."),
        (HALF, "0,5", 1, "right", "By hand."),
        (HALF, "0, 5", 1, "not understood", f"Expected {AnswerForm.NUMBER}."),
        (PAIR, "0, -1", 1, "right", "Both."),
        (PAIR, "0", 1, "wrong", "The answer is right but incomplete. There are two."),
        (PAIR, "0, 1", 1, "wrong", "Try another number. There are two."),
        (PAIR, "0.001, -1", 1, "wrong", "Try another number. There are two."),
        (ROOTS, "0.5, -2", 1, "right", "At both."),
        (ROOTS, "0.5, 0.501", 1, "wrong", "The answer is right but incomplete."),
        (ROOTS, "0,5; −2,0", 1, "right", "At both."),
        (ROOTS, (number for number in (-2, 0.5)), 1, "right", "At both."),
        (TWICE, "1", 1, "right", "It is double."),
    ],
)
def test_answers(question, given, tries, outcome, words):
    verdict = question.check(given, tries)
    assert (verdict.outcome, verdict.reason) == (outcome, words)


@pytest.mark.parametrize(
    ("question", "solution"),
    [
        (GROWS, "no"),
        (HALF, "0.5"),
        (PAIR, "0, -1"),
        (visual.Question("?", 1_000_000, "So."), "1000000"),
        (visual.Question("?", 0.9**5, "So."), "0.59049"),
        (visual.Question("?", 0.1234567891, "So.", tolerance=1e-9), "0.1234567891"),
    ],
)
def test_the_solution_is_right(question, solution):
    answer = question.task.answer
    assert set(answer.solution.split(", ")) == set(solution.split(", "))
    assert answer.check(answer.solution).is_right


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("?", "maybe", "why", ("yes", "no")), "answer = 'maybe': expected one of 'yes', 'no'."),
        (("?", "maybe", "why"), "answer = 'maybe': expected a number, or one of the choices."),
        (("?", True, "why"), "answer = True: expected a number"),
        (("?", "no", "why", ("yes", "no"), "", {"x": "?"}), "answer = 'x': expected one of"),
        (("?", float("nan"), "why"), "answer = nan: expected a number"),
        (("?", (0.5, float("inf")), "why"), "answer = inf: expected a number"),
        (("?", 10**400, "why"), "expected a number"),
        (("?", (), "why"), "answer = (): expected at least one number"),
        (("?", 2, "why", (1, 2)), "choices: 1: expected texts"),
        (("?", "a", "why", "abc"), "choices = 'abc': expected several texts."),
        (("?", "a", "why", ("a", "b", "a")), "choices: 'a' occurs more than once."),
        (("?", " a", "why", (" a", "b")), "choices: ' a': expected texts"),
        (("?", 1.5, "why", (), "", {}, float("inf")), "tolerance = inf: expected 0 or more."),
        (("?", 1.5, "why", (), "", {}, "0.1"), "tolerance = '0.1': expected 0 or more."),
        (("?", 1.5, "why", (), "", {}, -1), "tolerance = -1: expected 0 or more."),
        (("?", 1.5, "why", (), "", [2]), "mistakes = [2]: expected a mapping"),
        (("?", 1.5, "why", (), None), "hint = None: expected a text, or several."),
        (("?", 1.5, " "), "why = ' ': expected a text, not empty."),
        ((3, 1.5, "why"), "question = 3: expected a text, not empty."),
    ],
)
def test_invalid_arguments_are_named(arguments, words):
    with pytest.raises(ArgumentError) as caught:
        visual.Question(*arguments)
    assert words in str(caught.value)


def test_a_question_without_and_with_pictures():
    assert GROWS._repr_mimebundle_()["text/plain"].startswith("Does <b>x</b> grow?\n(one of: yes")
    assert "<b>" not in GROWS.page()
    tape = visual.tapes(lab.gallery.loops["square"].trace())
    shown = visual.Question("Which slot?", 1, "It is.", shown=tape)
    assert tape.svg() in shown.page()
    assert 'class="picture revealed"' not in shown.page()
    series = visual.Exercises((GROWS, visual.Exercise(lab.gallery.loops["square"].trace())))
    assert series.page().count('class="exercise"') == 2


@needs_browser
def test_choices_in_a_page(browser, tmp_path):
    again = visual.Question("Again?", "yes", "Yes.", choices=("yes", "no"))
    path = visual.Exercises((GROWS, HALF, again)).save(tmp_path / "x.html")
    with Opened(browser, path) as opened:
        first, last = opened.section(0), opened.section(2)
        first.locator("button[type=submit]").click()
        assert opened.verdict(0) == "Not understood. Expected one of: yes, no, it depends."
        first.get_by_label("yes").check()
        last.get_by_label("yes").check()
        assert first.get_by_label("yes").is_checked()
        last.locator("button[type=submit]").click()
        first.locator("button[type=submit]").click()
        assert opened.verdict(0) == "Wrong. 0.95 ** 2 is 0.9025. Square 0.95."
        first.get_by_label("yes").press("ArrowDown")
        first.locator("button[type=submit]").click()
        assert opened.verdict(0) == "Right. It is less than 1."
        assert opened.score() == "3 of 6 points; 2 of 3 answered."
        opened.page.locator(".again").click()
        assert not first.get_by_label("no", exact=True).is_checked()
        assert opened.told == []
    assert GROWS.check("yes").outcome is AnswerOutcome.WRONG
