"""The command ``scantape``: one file a command, each with an `add_command`.

Start with `main`, which lists them.  What several of them let a person choose is in `shared`.
"""
