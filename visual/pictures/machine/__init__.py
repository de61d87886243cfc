"""The tape machine: the tapes of all Scans as rows of cells, and the sums of each event.

Start with `build`, which computes the `content` of a machine from the events of a run, or with
`eager` for an eager recording. `columns` selects and names rows and columns, `parts` describes keys
and writes, `wording` writes the sentences, and `places` stores which instruction of the run
computes each number. `pair` builds two runs on a common clock, and `effect` describes a faulty
rule. `states` computes the role and the number of each cell over time, `arrange` the positions of
cells, and `tracks` the paths of values. `still` draws a moment or a film, with the shapes of
`frames`, and writes its text twin.
"""
