"""The grammar of steps in text form, which is parsed and never evaluated.

Start with `grammar`; `source` splits a text into statements, and `terms` defines their operations.
"""
