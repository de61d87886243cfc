"""A retired name raises an error that names its replacement."""

from operator import attrgetter
from types import SimpleNamespace

import pytest

import lab
from lab.reports.compare.comparison import Comparison
from lab.retired import RETIRED_NAMES

RECORDS = SimpleNamespace(
    Comparison=Comparison, Derivative=lab.Derivative, Trace=lab.Trace, structural=lab.structural
)


@pytest.mark.parametrize("name", RETIRED_NAMES)
def test_a_retired_name_names_its_replacement(name):
    assert name not in lab.__all__
    with pytest.raises(AttributeError) as error:
        attrgetter(name)(RECORDS if "." in name else lab)
    message = f"lab.{name} was removed in version 0.3: use {RETIRED_NAMES[name]}"
    assert str(error.value) == message


def test_every_line_of_the_table_counts(monkeypatch):
    with pytest.raises(AttributeError, match="No lab attribute abacus"):
        lab.abacus  # noqa: B018
    monkeypatch.setitem(RETIRED_NAMES, "abacus", "lab.trace.")
    with pytest.raises(
        AttributeError, match=r"lab\.abacus was removed in version 0\.3: use lab\.t"
    ):
        lab.abacus  # noqa: B018
    assert not hasattr(lab, "abacus")
