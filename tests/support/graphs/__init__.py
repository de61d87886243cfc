"""Graphs as a person would write them with `pytensor.scan`, for the reports on graphs.

Their functions are named on command lines, too: ``scantape compare graphs.known_mistakes:stops``.
"""

import pytensor


def scan(step, **arguments):
    return pytensor.scan(step, return_updates=False, **arguments)
