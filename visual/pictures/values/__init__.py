"""The picture of values over the steps: start with `values`.

`series` are the numbers, `scale` is where they stand, and `text` is the twin.
"""
