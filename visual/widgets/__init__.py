"""The base class of all widgets, their controls, and the page of a picture.

Start with `widget`: the base class, and the static forms without a kernel. `page` registers the
format .html of pictures. `module` joins the files of a script, `sliders` describes controls,
`rerun` closes the widgets of an earlier run of a cell, and `working` draws in a thread while the
kernel accepts messages.
"""

from visual.widgets import page as page
