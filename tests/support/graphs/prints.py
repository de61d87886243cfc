"""Lines of PyTensor's printed graph, by id."""

import io

import pytensor


def printed(variables):
    """What PyTensor prints, line by line."""
    stream = io.StringIO()
    pytensor.dprint(variables, file=stream)
    return stream.getvalue().splitlines()


def line_with(lines, id):
    """Return the first line with an id, which prints the variable."""
    return next(line for line in lines if id in line)
