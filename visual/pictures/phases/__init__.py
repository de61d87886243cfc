"""How a derivative is built: a sketch of its Scan, numbered by phases, and a sentence for each.

Start with `phases`; `sketch` draws the Scan, `sentences` say what a phase adds.
"""
