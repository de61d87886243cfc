"""The data of a workbench's machine: one run, or two in lockstep."""

from collections.abc import Mapping
from typing import Any

from visual.player.data import data_of, pair_data
from visual.workbench.state import Bench


def machine_data(bench: Bench) -> Mapping[str, Any]:
    """Return the data of the machine if the bench shows it or a faulty rule; otherwise nothing."""
    width, breakage = bench.room, bench.breakage
    if breakage is not None:
        return pair_data(breakage, width)
    trace = bench.picture.trace
    return data_of(trace, width) if bench.state.view == "machine" and trace is not None else {}
