"""The phases picture: the eleven phases of a derivation, with the part that each phase adds.

Start with `phases`; `pieces` draws the parts, and `sentences` explains them.
"""
