"""The pictures of Scantape: from traces to scenes, from scenes to files.

- `tapes`: what every backward step reads, overwrites and leaves
- `Scene.save`, `Scene.svg`, `Scene.text`: a picture as a file or as text
"""

from visual.scene import Scene
from visual.tapes import tapes

__all__ = ["Scene", "tapes"]
