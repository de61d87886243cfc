"""The tape machine: the tapes of all Scans as rows of cells, and the sums of each event.

Start with `build`, which computes the `content` of a machine from the events of a run. `eager`,
`pair`, and `effect` do the same for eager recordings, two runs, and faulty rules. `columns` selects
and names rows and columns, `parts` and `wording` describe the writes, and `places` stores which
instruction computes each number. `states` computes the role and the number of each cell over time,
`arrange` the positions of cells, and `tracks` the paths of values. `still` draws a moment or a
film, with the shapes of `frames`, and writes its text twin.
"""
