"""Graphs that users write with `pytensor.scan`, for the reports on graphs.

Command lines name their functions, too: ``scantape compare graphs.known_mistakes:stops``.
"""

import pytensor


def scan(step, **arguments):
    return pytensor.scan(step, return_updates=False, **arguments)
