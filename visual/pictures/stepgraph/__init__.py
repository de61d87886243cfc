"""The step graph: the formulas of a step with their values, arranged by Graphviz.

Start with `stepgraph`, which draws the graph of `nodes`.
"""
