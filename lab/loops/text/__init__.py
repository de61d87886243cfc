"""The grammar of a step that is written as text: nothing in it is evaluated.

Start with `grammar`; `source` splits a text into statements, `terms` is what they are read as.
"""
