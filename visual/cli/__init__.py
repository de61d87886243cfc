"""The command ``scantape``.

Start with `main`, which lists the file of each command. The function `add_commands` of a file adds
the commands of the file to the parser. `shared` contains the options of several commands.
"""
