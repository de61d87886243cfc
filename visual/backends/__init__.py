"""Backends: each module converts a scene to a file format.

Start with `svg`. `text` writes plain text, `typeset` converts the SVG to PDF and PNG, `films`
writes GIF from PNG, and `page` writes HTML. Importing this package fills the table of `writers`.
"""

from visual.backends import writers as writers
