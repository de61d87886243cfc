"""How a derivative is built: a recipe of eleven rows, one a phase, and the step that comes of it.

Start with `phases`; `pieces` draws what every phase adds, `sentences` say why.
"""
