"""The lessons: where they lie, as notebooks in a folder of one's own, and as slides.

Start with `copies`, which finds the lessons that came with the package; `slides` makes a talk of
one.
"""
