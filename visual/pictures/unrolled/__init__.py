"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`, which draws a `graph`: nodes are quantities, and edges are uses. `placing`
assigns columns and lanes to nodes, and routes arrows. `picture` draws names, boxes, and arrows with
`factors`. `overview` draws a card for each Scan.
"""
