"""The workbench: a widget that draws a loop or a PyTensor graph, with controls for all settings.

Start with `state`: a `Bench` contains a subject and the choices, and draws the picture. `texts`
reads a loop or a bench from text, and writes a bench as a link and as Python. `controls` describes
the controls for ``form.js`` and applies their changes. `workbench` is the widget, and
``workbench.js`` is the part of the widget in the browser.
"""
