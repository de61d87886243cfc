"""Scenes in the formats of files: each backend is a walk over the same shapes.

`svg` (start there), `text`, `typeset`, which makes PDF and PNG of the SVG, `films`, which makes a
GIF of them, and `page`, the HTML around pictures.  A backend registers in `visual.scene.formats`
the function that writes its format, by suffix; importing this package loads all backends.
"""

from visual.backends import films as films
from visual.backends import svg as svg
from visual.backends import text as text
from visual.backends import typeset as typeset
