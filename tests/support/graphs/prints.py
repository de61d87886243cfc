"""Compare the ids of the variables of Scans in a trace with PyTensor's printed graph."""

import io
import re

import pytensor

from lab.tape import Kind

ID = re.compile(r"\[id \w+\]")
BRANCHES = " │├└─←"


def printed(variables):
    """What PyTensor prints, line by line."""
    stream = io.StringIO()
    pytensor.dprint(variables, file=stream)
    return stream.getvalue().splitlines()


def line_with(lines, id):
    """Return the first line with an id, which prints the variable."""
    return next(line for line in lines if id in line)


def depth_of(line):
    return next((n for n, letter in enumerate(line) if letter not in BRANCHES), 0)


def arguments_of(lines, scan):
    """Return the ids in the lines of a Scan."""
    start = next(n for n, line in enumerate(lines) if "Scan{" in line and line.endswith(scan))
    depth, outer = lines[start].index("Scan{"), []
    for line in lines[start + 1 :]:
        if depth_of(line) <= depth:
            break
        if depth_of(line) == depth + 3:
            outer.append(ID.search(line)[0])
    return outer


def steps_of(lines):
    """Return the lines of each step, with the ids of the Scans that run it.

    PyTensor prints the step of several Scans once, for the first: ``[id V, BU]``; or the lines of
    the next Scans refer to it by its id.
    """
    parts = "\n".join(lines[lines.index("Inner graphs:") :]).split("\n\n")[1:]
    for head, *step in map(str.splitlines, parts):
        yield [f"[id {id}]" for id in head.rpartition("[id ")[2].rstrip("]").split(", ")], step


def below(steps):
    """Map each id to the ids directly below it; PyTensor prints them once only."""
    found = {}
    for _, step in steps:
        path = []
        for line in step:
            if not (id := ID.search(line)):
                continue  # elided: it is printed elsewhere
            path = [(depth, of) for depth, of in path if depth < depth_of(line)]
            if path:
                found.setdefault(path[-1][1], []).append(id[0])
            path.append((depth_of(line), id[0]))
    return found


def step_of(lines, scan):
    """Return all ids of the step of a Scan, and the pairs of an argument and its outer array."""
    steps = [*steps_of(lines)]
    ((scans, step),) = (one for one in steps if scan in one[0])
    under, waiting, ids = below(steps), [ID.search(line)[0] for line in step if "←" in line], set()
    while waiting:
        if (id := waiting.pop()) not in ids:
            ids.add(id)
            waiting += under.get(id, ())
    first, own = arguments_of(lines, scans[0]), arguments_of(lines, scan)
    pairs = re.findall(r"(\[id \w+\]) -> (\[id \w+\])", "\n".join(step))
    if all(array not in first for _, array in pairs):  # by another, which has the same step
        return ids, set()
    return ids, {(id, own[n]) for id, array in pairs for n, a in enumerate(first) if a == array}


def misplaced(scan, lines):
    """Return the variables of a Scan with other ids than in the print."""
    own = scan.place.partition(",")[0]
    outer, (ids, pairs) = arguments_of(lines, own), step_of(lines, own)
    handed = {id: {array for other, array in pairs if other == id} for id, _ in pairs}
    for variable in scan.variables:
        place, kind = scan.places[variable.argument], getattr(variable, "kind", None)
        given = "" if kind is Kind.NIT_SOT else outer[variable.argument + 1]
        output, _, of = place.filled.rpartition(" of ")
        is_printed = any(f"{output} {own}" in line for line in lines)
        if (
            place.name != variable.name
            or place.outer != given
            or any(given not in handed.get(id, {given}) for id in place.inner)
            or not ids.issuperset(place.inner)
            or bool(place.inner) != bool(given)
            or of != (own if variable in scan.held else "")
            or (bool(output) and variable.used and not is_printed)
        ):
            yield variable.name
