"""The unrolled picture: a loop over time, and below it the loops that differentiate it.

Start with `unrolled`, which draws a `graph`: nodes are quantities, and edges are uses. `picture`
assigns lanes and columns to nodes, and contains the texts. `factors` computes local derivatives.
`overview` draws a card for each Scan.
"""
