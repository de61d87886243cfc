"""The grammar of steps in text form, which is parsed and never evaluated.

Start with `grammar`; `source` calls Python's parser, and normalizes names.
"""
