"""Two pictures of the primitives where, cat, narrow, and clamp, which copy entries of arrays.

`routing` draws a call of a primitive, and `transposed` draws a step of a tape as such calls.
"""
