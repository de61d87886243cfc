"""Recordings of `lab.eager` as pictures; and a loop on both kinds of tapes, side by side.

Start with `eager`; `two_tapes` is the other picture, whose halves are in `sides` and `scan_side`.
"""
