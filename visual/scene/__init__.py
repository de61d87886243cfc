"""Pictures as data. Start with `shapes`; `combinators` places pieces relative to each other.

`formats` writes files with the backend that is registered for a suffix; `theme` has the colors.
"""
