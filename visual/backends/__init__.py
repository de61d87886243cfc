"""Backends: each writes the shapes of a scene in a file format.

Start with `svg`. `text` writes plain text, `typeset` converts the SVG to PDF and PNG, `films`
writes GIF from PNG, and `page` writes HTML. Each backend registers its function for a suffix in
`visual.scene.formats`; importing this package loads all backends.
"""

from visual.backends import films as films
from visual.backends import page as page
from visual.backends import svg as svg
from visual.backends import text as text
from visual.backends import typeset as typeset
