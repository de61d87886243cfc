"""The command ``scantape``.

Start with `main`, which lists the commands and the file of each. The function `add_commands` of a
file adds its commands to the parser. `shared` contains the options of several commands.
"""
