"""The primitives where, cat, narrow, and clamp on arrays, and a step of a tape as routing.

Start with `routing`; `transposed` is the other picture.
"""
