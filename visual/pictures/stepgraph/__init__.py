"""The step graph: `stepgraph` draws the graph of `nodes`, which Graphviz arranges."""
