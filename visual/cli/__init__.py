"""The command ``scantape``: one file per command, each with a function `add_command`.

Start with `main`, which lists the commands.  `shared` contains the options of several commands.
"""
