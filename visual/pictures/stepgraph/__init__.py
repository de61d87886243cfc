"""The step graph: the formulas of a step with their values, arranged by Graphviz.

Start with `stepgraph`; `nodes` builds the graph, `cards` draws its nodes.
"""
