"""Scenes in the formats of files: each backend is a walk over the same shapes.

`svg` (start there), `text`, `tex`, `typeset`, which makes PDF and PNG of the SVG, `films`, which
makes films of them, and `page`, what stands around pictures in a file of HTML.  A backend registers
in `visual.scene.formats` what it writes, by a suffix that stands there, too; this room loads them.
"""

from visual.backends import films as films
from visual.backends import svg as svg
from visual.backends import tex as tex
from visual.backends import text as text
from visual.backends import typeset as typeset
