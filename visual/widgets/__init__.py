"""What all widgets share, and the page of a picture.

Start with `widget`: the base class of all widgets, and what they show without a kernel.  `page`
registers how a picture is written as .html.  `module` joins the files of a script, `sliders`
describes controls, `rerun` closes the widgets of an earlier run of a cell, and `working` draws
while the kernel accepts messages.
"""

from visual.widgets import page as page
