"""Report names, commands, options, and formats that version 0.3 removed, and their replacements.

The next release removes these tables.
"""

from collections.abc import Mapping

from lab.errors import ArgumentError

RETIRED_NAMES: Mapping[str, str] = {
    "Stepper": "visual.machine(trace), which plays the tapes; all other pictures are still",
    "Workbench.step": "moment, the event that the machine shows; or options={'scan': 2, 'step': 1}",
    "Workbench.truncate": "visual.Workbench(lab.Loop(…, truncate_gradient=…))",
    "Exercises.answer": "exercises.tasks[0].check, and exercises.progress for the results",
    "Exercises.skip": "exercises.progress, a dictionary of results by question",
    "Exercises.again": "exercises.progress = {}",
    "Atlas": "visual.Page, which recomputes its machines",
    "moment": "visual.machine(trace, moment=7), or the picture machine with scan and step",
    "equations": "print(loop.system()), or lab.system of a Scan",
    "canonical": "the report lab.canonical(…), which a notebook shows as tables",
    "directions": "lab.pushforward, lab.derivative and lab.dot_product, as in lesson 10",
    "orders": "genealogy, which shows the numbers of Scans and of distinct step functions",
    "rolled": "taps, or print(loop.system())",
    "connections": "the section Gradient of each input of lab.explain(cost, wrt)",
    "puzzles": "the notebook puzzles.md, whose puzzles are visual.Question(…)",
    "breaking": "visual.machine(lab.break_rule(…)), which plays both runs in lockstep",
    "compiled": "the report lab.compiled(…), which a notebook shows as tables",
}  # names that `visual` exported, and names of pictures

RETIRED_COMMANDS: Mapping[str, str] = {
    "completion": "`scantape --help` and `scantape COMMAND --help`",
    "break": "visual.machine(lab.break_rule(loop, rule, order)) in Python",
    "slides": "jupyter nbconvert --to slides, as the page for lecturers describes",
    "rewrites": "`scantape compiled`, whose section Rewrites has a line for each",
}

RETIRED_OPTIONS: Mapping[str, str] = {  # options by their names in Python
    "views": "--rules; a page shows the machine",
    "themes": "the colors of the reader's screen",
    "all_direct": "`scantape draw figure7` or figure8, which show all direct parts",
    "bare": "no_legend, or edit the .svg",
    "buffer": "the picture memory for buffers; tapes are in the order of time",
    "contributions": "lab.events(trace), which lists the terms of each write",
    "figure": "`scantape draw figure4`",
    "inside": "visual.tapes(trace.scans[0].nested[1]); the machine opens Scans inside its steps",
    "names": "the first column of `scantape loops`",
    "height": "no height; the content of a picture determines its height",
    "limit": "the plans of lab.memory(trace), each with its size",
    "moment": "scan and step, or visual.machine(trace, moment=7)",
    **dict.fromkeys(("phase", "phases.all"), "print(derivation), with the decisions of all phases"),
    "plans": "the picture memory, which always shows them",
    "scans": "visual.unrolled(trace, scans=(1, 4))",
    "stepgraph.all": "pytensor.dprint(graph), which prints the operations of inner functions",
    **dict.fromkeys(("ssa.all", "unrolled.all"), "the option scan, or the picture tapes with all"),
    **dict.fromkeys(("timed", "time"), "pytensor.function(…, profile=True)"),
    "too_late": "`scantape compiled --wrt`, which shows the gradient from shortened buffers",
    "unfold": "step",
}

PICTURE_OPTIONS: Mapping[str, str] = {  # options of a picture function, such as `visual.tapes`
    **{old: new for old, new in RETIRED_OPTIONS.items() if "." in old or old == "phase"},
    "eager.unfold": "a recording of fewer steps",
    "routing.all": "a part of the arrays",
    "unrolled.all_direct": RETIRED_OPTIONS["all_direct"],
    "theme": "theme in visual.draw(…), in .save(…), or .themed(…) of the picture",
}

RETIRED_FORMATS: Mapping[str, str] = {  # suffixes of files
    ".tex": ".pdf, which LaTeX includes with selectable text",
    ".webp": ".gif",
    ".mp4": ".gif, which ffmpeg converts",
}


def refuse_retired(name: object, retired: Mapping[str, str], form: str = "{}") -> None:
    """Raise ArgumentError if `retired` contains `name`. The error shows ``form.format(name)``."""
    if isinstance(name, str) and name in retired:
        raise ArgumentError(removal(form.format(name), retired[name]))


def removal(name: str, instead: str) -> str:
    """Return the message about a removed `name` and its replacement."""
    return f"{name} was removed in version 0.3: use {instead}."
