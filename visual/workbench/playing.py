"""The machine of a bench: the data that its page plays, of one run or of two in lockstep."""

from collections.abc import Mapping
from typing import Any

from visual.player.data import data_of, pair_data
from visual.workbench.state import Bench


def machine_data(bench: Bench) -> Mapping[str, Any]:
    """Return the data of the machine if the bench shows it or a faulty rule; else nothing."""
    wide, breakage = bench.room, bench.breakage
    if breakage is not None:
        return pair_data(breakage, wide)
    trace = bench.shown.trace
    return data_of(trace, wide) if bench.state.view == "machine" and trace is not None else {}
