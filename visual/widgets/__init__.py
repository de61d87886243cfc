"""Pictures that can be walked through, in a notebook and as a page.

Start with `stepper`; `page` is the same without a kernel, and registers what an .html file is.
`widget` is what all widgets are, and what they show where no kernel is.  `module` joins the
stepper's script with those of others, `rerun` closes what a cell made before, `working` draws while
the kernel listens.
"""

from visual.widgets import page as page
