"""Compare reports with handwritten texts, and read their HTML."""

from dataclasses import dataclass
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup
from strange_loops import HOSTILE
from twins import assert_twin

from lab.equations.tables import ReportTable
from lab.errors import ArgumentError
from lab.reports.tables import WIDTH, Lines, Report, Section, as_html
from visual.backends.page import save_report


@dataclass(frozen=True)
class Weather(Report):
    """A report on two towns."""

    reason: str = "wind"

    @property
    def document(self):
        table = ReportTable(
            ("town", "°C", "reason"), (("Oslo", "−3", "night"), ("Rome", "21", self.reason))
        )
        return Section(
            "Weather",
            (
                "Two towns.",
                Section("Scan 1", (Lines(("a = b", "c = d")), Section("Towns", (table,)))),
                Section("Traps", ("none",)),
            ),
        )


def parts_of(page):
    """Return the tags of a page, the texts of its headings and cells, and its labels."""
    soup = BeautifulSoup(page, "html.parser")
    cells = [element.text for element in soup(["th", "td", "h1", "p"])]
    labels = [element["aria-label"] for element in soup(attrs={"aria-label": True})]
    return [element.name for element in soup(True)], cells, labels


def test_a_report_as_text():
    assert_twin("report-weather", Weather())


def test_long_cells_are_wrapped_below_their_column():
    reason = "wind from the sea " * 20
    lines = str(Weather(reason)).splitlines()
    start = next(n for n, line in enumerate(lines) if "Rome" in line)
    end = lines.index("", start)
    assert " ".join(line[14:] for line in lines[start:end]).split() == reason.split()
    assert all(not line[:14].strip() for line in lines[start + 1 : end])
    assert max(map(len, lines)) <= WIDTH


def test_html_has_every_cell_once_and_labels_that_differ():
    page = Weather()._repr_html_()
    ElementTree.fromstring(f"<div>{page.replace('<br>', '<br/>')}</div>")  # each tag is closed
    _, cells, labels = parts_of(page)
    assert cells == [
        "Two towns.", "town", "°C", "reason", "Oslo", "−3", "night", "Rome", "21", "wind", "none",
    ]  # fmt: skip
    assert labels == ["Weather: Scan 1", "Weather: Scan 1: Towns"]
    twice = Section("Twice", (Lines(("a",)), Lines(("b",))))
    assert len({*parts_of(as_html(twice))[2]}) == 2


def test_hostile_labels_are_text():
    assert "script" in parts_of("<p><script></script></p>")[0]  # a missing escape is detected
    for label in (HOSTILE, "<script>alert(1)</script>", '"><img src=x>', "a\x1b[2Jb\nc"):
        tags, cells, _ = parts_of(Weather(label)._repr_html_())
        assert {"script", "img"} & {*tags} == set()
        assert tags == parts_of(Weather()._repr_html_())[0]
        assert "".join(c if c.isprintable() else " " for c in label) in cells
        assert "\x1b" not in str(Weather(label))


def test_reports_are_saved_as_html_and_text(tmp_path):
    page = save_report(Weather(HOSTILE), tmp_path / "weather.html", "dark").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "script" not in parts_of(page)[0]
    assert save_report(Weather(), tmp_path / "w.txt").read_text("utf-8") == f"{Weather()}\n"
    with pytest.raises(ArgumentError, match=r"expected a file that ends in \.html or \.txt"):
        save_report(Weather(), tmp_path / "weather.svg")
