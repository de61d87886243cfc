"""In a genealogy no two quantities have one name, whichever Scans they belong to."""

import re
from collections import defaultdict

import pytest

import visual
from lab.loops import gallery

LABEL = re.compile(r'\[label="([^"]*)"')
MADE = re.compile(r"(?:returns|sums|unused) ([^;]*)|([^ ;·]+): mit-mot")


def ambiguous_rows(dot):
    """Names by which a genealogy calls what several of its Scans make."""
    found = defaultdict(set)
    for number, label in enumerate(LABEL.findall(dot)):
        for line in label.split(r"\n"):
            for names, tape in MADE.findall(re.sub(r" = (\[[^\]]*\]|[-\d.]+)", "", line)):
                for name in re.split(", | and ", names) if names else [tape]:
                    found[name].add(number)
    return {name for name, scans in found.items() if len(scans) > 1}


@pytest.mark.parametrize("name", gallery.loops)
def test_no_name_stands_for_two_quantities(name):
    for order in (1, 2, 3):
        dot = visual.genealogy(gallery.loops[name].trace(order=order), all=True).dot
        assert "mit-mot" in dot
        assert ambiguous_rows(dot) == set()


def test_two_quantities_of_one_name_are_seen():
    told = ("returns d2prey and d2hunters", "d2prey: mit-mot · reads 0, 1")
    rows = [rf'n{n} [label="{n + 1} · a\n{words}"];' for n, words in enumerate(told)]
    assert ambiguous_rows("\n".join(rows)) == {"d2prey"}
