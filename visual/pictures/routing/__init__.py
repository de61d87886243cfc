"""The primitives where, cat, narrow, and clamp at your arrays, and a step of a tape as routing.

Start with `routing`; `transposed` is the other picture.
"""
