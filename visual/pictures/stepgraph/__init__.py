"""The step graph: the operations of one step with their values, laid out by Graphviz.

Start with `stepgraph`; `nodes` tells which operations are drawn, `looks` what they are called and
which roles they have.
"""
