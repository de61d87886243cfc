"""Lessons explain each term before its use, and link to the glossary."""

import re
from functools import cache

import jupytext
import pytest
from sites import LESSONS, ROOT

ENTRY = re.compile(
    r"\n### (?P<term>.+)\n\n(?P<words>.+) \(\[lesson \d+\]\((?P<lesson>\w+)\.ipynb\)\)\n"
)
GLOSSARY = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
TERMS = {entry["term"]: entry["lesson"] for entry in ENTRY.finditer(GLOSSARY)}
# Excluded: fenced and inline code, headings, addresses, and solutions.
OTHER = re.compile(r"```.*?```|`[^`\n]*`|^#[^\n]*$|\]\([^)]*\)|<details>.*?</details>", re.S | re.M)


def anchor(term):
    return term.lower().replace(" ", "-")


def pattern(term):
    """A term as a word, in the plural too; only Scan needs its capital letter."""
    first = term[0] if term[0].isupper() else f"[{term[0]}{term[0].upper()}]"
    words = rf"{first}{term[1:]}".replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-]){words}s?(?![\w-])")


@cache
def spoken(lesson):
    """What a reader of a lesson reads: prose, and the texts of questions."""
    parts = []
    for cell in jupytext.reads(lesson, "md:myst").cells:
        if cell.cell_type == "markdown":
            parts.append(OTHER.sub("", cell.source))
        elif "visual.Question(" in cell.source:
            parts.append(" ".join(re.findall(r'"([^"\n]*)"', cell.source)))
    return "\n".join(parts)


def early(lessons):
    """Return the terms that a lesson uses before their explanation, by lesson."""
    for term, explained in TERMS.items():
        for name, lesson in lessons.items():
            if name == explained:
                start = explains(lesson, term)
                if start is None:
                    yield f"{term}: {name} does not explain it"
                elif pattern(term).search(OTHER.sub("", lesson[:start])):
                    yield f"{term}: {name} uses it before it explains it"
                break
            if pattern(term).search(spoken(lesson)):
                yield f"{term}: {name} uses it, {explained} explains it"


def explains(lesson, term):
    """Where a lesson explains a term: in bold, with a link to the glossary."""
    found = re.search(
        rf"\[\*\*{pattern(term).pattern}\*\*\]\(glossary\.ipynb#{anchor(term)}\)", lesson
    )
    return found and found.start()


def unlinked(lesson):
    """Terms whose first use in the prose of a lesson is not linked."""
    prose = re.sub(
        r"```.*?```|`[^`\n]*`|^#[^\n]*$|<details>.*?</details>", "", lesson, flags=re.S | re.M
    )
    prose = re.sub(r"\[[^\]]*\]\((?!glossary)[^)]*\)", "", prose)
    for term in TERMS:
        first = pattern(term).search(re.sub(r"\]\([^)]*\)", lambda m: " " * len(m[0]), prose))
        if first and not re.match(
            rf"\**\]\(glossary\.ipynb#{anchor(term)}\)", prose[first.end() :]
        ):
            yield term


@pytest.fixture(scope="module")
def lessons():
    return {path.stem: path.read_text(encoding="utf-8").split("---\n", 2)[2] for path in LESSONS}


def test_no_term_comes_before_its_explanation(lessons):
    assert len(TERMS) > 30
    assert set(TERMS.values()) <= set(lessons)
    assert list(early(lessons)) == []


def test_the_first_use_in_a_lesson_is_linked(lessons):
    assert {name: found for name, text in lessons.items() if (found := list(unlinked(text)))} == {}


def test_the_glossary_is_in_the_order_of_the_lessons():
    assert GLOSSARY.count("\n### ") == len(TERMS)
    assert list(TERMS.values()) == sorted(TERMS.values())


def test_what_is_wrong_is_found(lessons):
    told = "[**tap**](glossary.ipynb#tap)"
    wrong = {**lessons, "01_loop": lessons["01_loop"] + "\n\nIt reads at several taps.\n"}
    assert list(early(wrong)) == ["tap: 01_loop uses it, 02_scan explains it"]
    asked = (
        lessons["01_loop"]
        + '\n```{code-cell} ipython3\nvisual.Question("Which taps?", 1, "")\n```\n'
    )
    assert list(early({**lessons, "01_loop": asked})) == [
        "tap: 01_loop uses it, 02_scan explains it"
    ]
    late = lessons["02_scan"].replace(
        "# What does scan do with your arguments?\n", "# What?\n\nA tap is read.\n"
    )
    assert list(early({**lessons, "02_scan": late})) == [
        "tap: 02_scan uses it before it explains it"
    ]
    none = lessons["02_scan"].replace(told, "**tap**")
    assert list(early({**lessons, "02_scan": none})) == ["tap: 02_scan does not explain it"]
    assert list(unlinked(none)) == ["tap"]
