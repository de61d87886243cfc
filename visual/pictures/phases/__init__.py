"""The phases picture: the eleven phases of a derivation, each with the part of the step it adds.

Start with `phases`; `pieces` draws the parts, `sentences` explains them.
"""
