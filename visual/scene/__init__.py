"""Pictures as data. Start with `shapes`; `combinators` places pieces relative to each other.

`formats` writes a file with the backend for its suffix, and `theme` contains the colors.
"""
