"""The workbench: a loop or a PyTensor graph, with controls for all choices.

Start with `state`: a `Bench` has a subject, the choices, and the picture. `controls` describes the
controls for ``form.js``, which builds the form, and applies their changes. `written` parses a loop
from text, `cell` writes a bench as Python, `link` as a link. `workbench` is the widget;
``workbench.js`` is its part in the browser.
"""
