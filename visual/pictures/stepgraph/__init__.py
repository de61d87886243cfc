"""The step graph: the operations of a step with their values, arranged by Graphviz.

Start with `stepgraph`; `nodes` and `quantities` build the two graphs, `cards` draws their nodes.
"""
