"""The eager picture: what a recorded program put on its tapes, and how each was emptied.

Start with `eager`: `story` tells it what happened, `geometry` where that stands, `words` what to
call it.  `two_tapes` puts a loop's recording (`sides`) beside the tapes
of its Scan (`scan_side`), in the rows of a `table`.
"""
