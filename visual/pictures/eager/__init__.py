"""Pictures of recordings of `lab.eager`.

Start with `eager`. `two_tapes` draws a loop as an eager recording next to the tapes of its Scan.
"""
