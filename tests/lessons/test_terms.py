"""Lessons explain each term before its use, and link to the glossary."""

import re
from functools import cache

import pytest
from sites import LESSONS, ROOT

ENTRY = re.compile(
    r"\n### (?P<term>.+)\n\n(?P<words>.+) \(\[lesson \d+\]\((?P<lesson>\w+)\.ipynb\)\)\n"
)
GLOSSARY = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
TERMS = {entry["term"]: entry["lesson"] for entry in ENTRY.finditer(GLOSSARY)}
FENCED = re.compile(r"^```.*?^```", re.S | re.M)
# Excluded: fenced and inline code, headings, addresses, and solutions.
NOT_PROSE = r"```.*?```|`[^`\n]*`|^#[^\n]*$|<details>.*?</details>"
OTHER = re.compile(rf"{NOT_PROSE}|\]\([^)]*\)", re.S | re.M)
OTHER_TEXT = re.compile(rf"{NOT_PROSE}|\[[^\]]*\]\((?!glossary)[^)]*\)", re.S | re.M)


def anchor(term):
    return term.lower().replace(" ", "-")


def pattern(term):
    """Return the pattern of a term as a word, also in the plural. Only Scan needs its capital."""
    first = term[0] if term[0].isupper() else f"[{term[0]}{term[0].upper()}]"
    words = rf"{first}{term[1:]}".replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-]){words}s?(?![\w-])")


@cache
def prose_of(lesson):
    """Return the prose of a lesson, and the texts of its questions."""
    questions = [block for block in FENCED.findall(lesson) if "visual.Question(" in block]
    return "\n".join([OTHER.sub("", lesson), *re.findall(r'"([^"\n]*)"', "\n".join(questions))])


def early_terms(lessons):
    """Yield a message for each term without a bold link to the glossary, or with an earlier use."""
    for term, origin in TERMS.items():
        words, link = pattern(term), rf"\(glossary\.ipynb#{anchor(term)}\)"
        before = [name for name in lessons if name < origin]
        for name in before:
            if words.search(prose_of(lessons[name])):
                yield f"{term}: {name} uses it, {origin} explains it"
        lesson = lessons[origin]
        match = re.search(rf"\[\*\*{words.pattern}\*\*\]{link}", lesson)
        if match is None:
            yield f"{term}: {origin} does not explain it"
        elif words.search(OTHER.sub("", lesson[: match.start()])):
            yield f"{term}: {origin} uses it before it explains it"


def unlinked_terms(lesson):
    """Yield the terms whose first use in the prose of a lesson is not linked."""
    prose = OTHER_TEXT.sub("", lesson)
    without_links = re.sub(r"\]\([^)]*\)", lambda m: " " * len(m[0]), prose)
    for term in TERMS:
        first = pattern(term).search(without_links)
        link = re.compile(rf"\**\]\(glossary\.ipynb#{anchor(term)}\)")
        if first and not link.match(prose, first.end()):
            yield term


@pytest.fixture(scope="module")
def lessons():
    return {path.stem: path.read_text(encoding="utf-8").split("---\n", 2)[2] for path in LESSONS}


def test_no_term_comes_before_its_explanation(lessons):
    assert len(TERMS) > 30
    assert set(TERMS.values()) <= set(lessons)
    assert list(early_terms(lessons)) == []


def test_the_first_use_in_a_lesson_is_linked(lessons):
    assert [(name, t) for name, text in lessons.items() for t in unlinked_terms(text)] == []


def test_the_glossary_is_in_the_order_of_the_lessons():
    assert GLOSSARY.count("\n### ") == len(TERMS)
    assert list(TERMS.values()) == sorted(TERMS.values())


def test_early_and_unlinked_terms_are_detected(lessons):
    question = '\n```{code-cell} ipython3\nvisual.Question("Which taps?", 1, "")\n```\n'
    first, second = lessons["01_loop"], lessons["02_scan"]
    without_link = second.replace("[**tap**](glossary.ipynb#tap)", "**tap**")
    title = "# What does scan do with your arguments?\n"
    for name, lesson, message in (
        ("01_loop", f"{first}\n\nIt reads at several taps.\n", "uses it, 02_scan explains it"),
        ("01_loop", first + question, "uses it, 02_scan explains it"),
        ("02_scan", second.replace(title, f"{title}\nA tap.\n"), "uses it before it explains it"),
        ("02_scan", without_link, "does not explain it"),
    ):
        assert list(early_terms(lessons | {name: lesson})) == [f"tap: {name} {message}"]
    assert list(unlinked_terms(without_link)) == ["tap"]
