"""The layout of graphs by Graphviz: from boxes and edges to positions and curves.

`draw_graph` draws the boxes of a picture. `lay_out` passes the sizes of the boxes to Graphviz,
without labels. `dot_source` writes the graph with its labels, for other tools. The module imports
pygraphviz, which contains Graphviz, on first use.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lab.errors import LabError
from visual.scene.combinators import Piece, over, shifted, sized
from visual.scene.shapes import Arrow, Text, walk

Point = tuple[float, float]
INCH = 72
HEAD = "graph [rankdir=TB nodesep=0.16 ranksep=0.35 splines=true];"
NO_HEADS = "edge [dir=none];"
HOW_TO_INSTALL = (
    "This picture needs Graphviz. Run: pip install pygraphviz, or, without a wheel for your "
    "system, conda install -c conda-forge pygraphviz."
)


@dataclass(frozen=True)
class GraphNode:
    """A box with a size in pixels. Nodes with the same `rank` are in the same row.

    Only `dot_source` uses the label.
    """

    key: str
    width: float
    height: float
    label: str = ""
    rank: str = ""


@dataclass(frozen=True)
class GraphEdge:
    """An edge between the nodes with the keys `tail` and `head`, at least `span` rows apart."""

    tail: str
    head: str
    span: int = 1


@dataclass(frozen=True)
class Layout:
    """The size of a graph, the upper left corners of nodes by key, and the curves of edges.

    Coordinates are pixels, and y points down.
    """

    width: float
    height: float
    corners: Mapping[str, Point]
    curves: tuple[tuple[Point, ...], ...]


def lay_out(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], rightwards: bool = False
) -> Layout:
    """Return the layout of a graph from top to bottom or, with `rightwards`, from left to right.

    Raises LabError if pygraphviz is not installed.
    """
    try:
        from pygraphviz import AGraph
    except ImportError as error:
        raise LabError(f"{HOW_TO_INSTALL} ({error})") from error
    source = dot_source(nodes, edges, labeled=False)
    if rightwards:
        source = source.replace("rankdir=TB", "rankdir=LR")
    output = json.loads(AGraph(string=source).draw(format="json0", prog="dot"))
    _, _, width, height = _numbers(output["bb"])
    boxes = [item for item in output.get("objects", ()) if "pos" in item]  # rows have no position
    centers = {item["name"]: _numbers(item["pos"]) for item in boxes}
    arrows = {int(item["id"]): item for item in output.get("edges", ())}
    corners = {}
    for number, node in enumerate(nodes):
        x, y = centers[f"n{number}"]
        corners[node.key] = (x - node.width / 2, height - y - node.height / 2)

    def flipped(pairs: Iterable[str]) -> tuple[Point, ...]:
        return tuple((x, height - y) for x, y in map(_numbers, pairs))

    curves = tuple(flipped(arrows[number]["pos"].split()) for number in range(len(edges)))
    return Layout(width, height, corners, curves)


def draw_graph(
    boxes: Mapping[str, Piece],
    edges: Sequence[GraphEdge],
    ranks: Mapping[str, str],
    rightwards: bool = False,
) -> tuple[Piece, str]:
    """Draw boxes and arrows with the layout of `lay_out`. Also return the graph as DOT source.

    `boxes` and `ranks` have the keys of the nodes. The label of a node is the text in its box.
    """
    nodes = list[GraphNode]()
    for key, box in boxes.items():
        label = "\n".join(s.content for s in walk(box.shapes) if isinstance(s, Text))
        size = box.envelope.width, box.envelope.height
        nodes.append(GraphNode(key, *size, label, ranks.get(key, "")))
    layout = lay_out(nodes, edges, rightwards)
    arrows = sized(layout.width, layout.height, *map(Arrow, layout.curves))
    placed = (shifted(box, *layout.corners[key]) for key, box in boxes.items())
    return over(arrows, *placed), dot_source(nodes, edges)


def quote_label(label: str) -> str:
    """Return `label` as a quoted string of the DOT language, with spaces for control characters."""
    plain = "".join(c if c == "\n" or c.isprintable() else " " for c in label)
    plain = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'


def dot_source(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], labeled: bool = True) -> str:
    """Return the graph in the DOT language, with the labels of boxes if `labeled`."""
    names = {node.key: f"n{number}" for number, node in enumerate(nodes)}
    lines = ["digraph {", HEAD]
    lines += ["node [shape=box];"] if labeled else ["node [shape=box fixedsize=true];", NO_HEADS]
    for node in nodes:
        size = f"width={node.width / INCH:.4f} height={node.height / INCH:.4f}"
        label = quote_label(node.label) if labeled else '""'
        lines.append(f"{names[node.key]} [label={label} {size}];")
    for number, edge in enumerate(edges):
        span = f" minlen={edge.span}" if edge.span > 1 else ""
        lines.append(f'{names[edge.tail]} -> {names[edge.head]} [id="{number}"{span}];')
    for rank in sorted({node.rank for node in nodes} - {""}):
        members = " ".join(names[node.key] for node in nodes if node.rank == rank)
        lines.append(f"{{ rank=same; {members} }}")
    return "\n".join([*lines, "}", ""])


def _numbers(written: str) -> tuple[float, ...]:
    return tuple(map(float, written.split(",")))
