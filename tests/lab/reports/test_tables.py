"""Compare reports with handwritten texts, and read their HTML with Python's parser."""

from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
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


class Reader(HTMLParser):
    """A parser that collects tags, texts of headings and cells, and labels of regions."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.labels, self.cells, self.open = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open += [] if tag in ("br", "meta") else [tag]
        self.labels += [value for name, value in attributes if name == "aria-label"]
        self.cells += [""] if tag in ("th", "td", "h1", "p") else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("th", "td", "h1", "p"):
            self.cells[-1] += data


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
    reader = Reader(Weather()._repr_html_())
    assert reader.open == []
    assert reader.cells == [
        "Two towns.", "town", "°C", "reason", "Oslo", "−3", "night", "Rome", "21", "wind", "none",
    ]  # fmt: skip
    assert reader.labels == ["Weather: Scan 1", "Weather: Scan 1: Towns"]
    twice = Section("Twice", (Lines(("a",)), Lines(("b",))))
    assert len(set(Reader(as_html(twice)).labels)) == 2


def test_hostile_labels_are_text():
    assert (
        "script" in Reader("<p><script></script></p>").tags
    )  # the reader detects a missing escape
    for label in (HOSTILE, "<script>alert(1)</script>", '"><img src=x>', "a\x1b[2Jb\nc"):
        plain, page = Weather(label), Reader(Weather(label)._repr_html_())
        assert {"script", "img"} & set(page.tags) == set()
        assert page.tags == Reader(Weather()._repr_html_()).tags
        assert "".join(c if c.isprintable() else " " for c in label) in page.cells
        assert "\x1b" not in str(plain)


def test_reports_are_saved_as_html_and_text(tmp_path):
    page = save_report(Weather(HOSTILE), tmp_path / "weather.html", "dark").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "script" not in Reader(page).tags
    assert save_report(Weather(), tmp_path / "w.txt").read_text("utf-8") == f"{Weather()}\n"
    with pytest.raises(ArgumentError, match=r"expected a file that ends in \.html or \.txt"):
        save_report(Weather(), tmp_path / "weather.svg")
