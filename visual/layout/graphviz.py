"""The layout of graphs by Graphviz: from boxes and edges to a picture with curves.

`draw_graph` passes the sizes of the boxes to Graphviz, without labels. `dot_source` writes the
graph with its labels, for other tools. The module imports pygraphviz on first use.
"""

import json
from collections.abc import Mapping, Sequence

from lab.errors import LabError
from visual.scene.combinators import Piece, over, shifted, sized
from visual.scene.shapes import Arrow, Text, walk

INCH = 72
GraphEdge = tuple[str, str, int]  # the keys of two nodes, and their minimum distance in rows
HEAD = "graph [rankdir={} nodesep=0.16 ranksep=0.35 splines=true];"
NO_HEADS = "edge [dir=none];"
HOW_TO_INSTALL = (
    "This picture needs Graphviz. Run: pip install pygraphviz, or, without a wheel for your "
    "system, conda install -c conda-forge pygraphviz."
)


def draw_graph(
    boxes: Mapping[str, Piece],
    edges: Sequence[GraphEdge],
    ranks: Mapping[str, str],
    rightwards: bool = False,
) -> tuple[Piece, str]:
    """Return the picture of a graph, and the graph in the DOT language.

    The graph runs from top to bottom or, with `rightwards`, from left to right. `boxes` and `ranks`
    map the key of each node to its box and its rank. Boxes of the same rank are in the same row.
    Raises LabError if pygraphviz is not installed.
    """
    try:
        from pygraphviz import AGraph
    except ImportError as error:
        raise LabError(f"{HOW_TO_INSTALL} ({error})") from error
    source = dot_source(boxes, edges, ranks, rightwards, labeled=False)
    output = json.loads(AGraph(string=source).draw(format="json0", prog="dot"))
    _, _, width, height = _numbers(output["bb"])
    centers = {item["name"]: item["pos"] for item in output.get("objects", ()) if "pos" in item}
    curves = {int(item["id"]): item["pos"].split() for item in output.get("edges", ())}
    corners = (map(_numbers, curves[number]) for number in range(len(edges)))
    arrows = (Arrow(tuple((x, height - y) for x, y in each)) for each in corners)
    placed = []
    for number, box in enumerate(boxes.values()):
        x, y = _numbers(centers[f"n{number}"])
        left, top = x - box.envelope.width / 2, height - y - box.envelope.height / 2
        placed.append(shifted(box, left, top))
    return over(sized(width, height, *arrows), *placed), dot_source(boxes, edges, ranks, rightwards)


def dot_source(
    boxes: Mapping[str, Piece],
    edges: Sequence[GraphEdge],
    ranks: Mapping[str, str],
    rightwards: bool,
    labeled: bool = True,
) -> str:
    """Return the graph in the DOT language. If `labeled`, the texts in a box are its label.

    A label contains spaces instead of control characters.
    """
    names = {key: f"n{number}" for number, key in enumerate(boxes)}
    lines = ["digraph {", HEAD.format("LR" if rightwards else "TB")]
    lines += ["node [shape=box];"] if labeled else ["node [shape=box fixedsize=true];", NO_HEADS]
    for key, box in boxes.items():
        size = f"width={box.envelope.width / INCH:.4f} height={box.envelope.height / INCH:.4f}"
        words = [s.content for s in walk(box.shapes) if isinstance(s, Text)] if labeled else []
        label = "".join(c if c == "\n" or c.isprintable() else " " for c in "\n".join(words))
        lines.append(f"{names[key]} [label={json.dumps(label, ensure_ascii=False)} {size}];")
    for number, (tail, head, rows) in enumerate(edges):
        span = f" minlen={rows}" if rows > 1 else ""
        lines.append(f'{names[tail]} -> {names[head]} [id="{number}"{span}];')
    for rank in sorted({ranks.get(key, "") for key in boxes} - {""}):
        members = " ".join(names[key] for key in boxes if ranks.get(key) == rank)
        lines.append(f"{{ rank=same; {members} }}")
    return "\n".join([*lines, "}", ""])


def _numbers(written: str) -> tuple[float, ...]:
    return tuple(map(float, written.split(",")))
