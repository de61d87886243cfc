"""The tape machine: the tapes of all Scans as rows of cells, and each event as sums in them.

Start with `build`, which makes the `content` of a run from its events. `columns` decides which
slots have cells, `wording` writes the sentences, `arrange` gives every cell its place, `tracks`
every path. `still` draws one moment or a film, with the shapes of `frames` and the words of `foot`.
"""
