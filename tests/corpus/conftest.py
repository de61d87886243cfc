"""Print tables of the corpus: the time of the pictures of each graph, and the refusals."""

import os


def pytest_terminal_summary(terminalreporter):
    """By graph, the slowest first: seconds of all pictures, and of the slowest kinds."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    graphs = [dict(report.user_properties) for report in reports if report.when == "call"]
    graphs = [graph for graph in graphs if "graph" in graph]
    if not os.environ.get("CORPUS"):
        return
    terminalreporter.section("pictures of the corpus: seconds of the processor")
    for graph in sorted(graphs, key=lambda graph: -sum(graph["seconds"].values())):
        slowest = sorted(graph["seconds"].items(), key=lambda item: -item[1])[:3]
        told = ", ".join(f"{kind} {seconds:.2f}" for kind, seconds in slowest)
        total = sum(graph["seconds"].values())
        terminalreporter.line(f"{total:6.2f}  {graph['graph']:44}{told}")
    terminalreporter.section("what was refused")
    for graph in graphs:
        for what, why in graph["refused"].items():
            terminalreporter.line(f"{graph['graph']}, {what}: {' '.join(why.split())[:300]}")
