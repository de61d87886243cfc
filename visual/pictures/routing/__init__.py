"""Where, cat, narrow and clamp at a person's arrays, and a step of a tape in these terms.

Start with `routing`; `transposed` is the other picture.
"""
