"""The pictures of Scantape: from traces to scenes, from scenes to files.

- `draw`: a loop and what you choose about it, as a picture
- `tapes`: what every backward step of a trace reads, overwrites and leaves
- `Scene.save`, `Scene.svg`, `Scene.text`: a picture as a file or as text
"""

from visual.drawing import draw
from visual.scene import Scene
from visual.tapes import tapes

__all__ = ["Scene", "draw", "tapes"]
