"""The tape machine: the tapes of all Scans as rows of cells, and each event as sums in them.

Start with `build`, which makes the `content` of a run from its events. `columns` decides which
slots have cells, `wording` writes the sentences, `arrange` gives every cell and every path its
place, `still` draws one moment or a film, `foot` the words below.
"""
