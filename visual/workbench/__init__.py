"""The workbench: a loop or a PyTensor graph, with controls for all choices.

Start with `state`: a `Bench` has a subject, the choices, and the picture. `texts` reads a loop or a
bench from text, and writes a bench as a link and as Python. `controls` describes the controls for
``form.js``, which builds the form, and applies their changes. `workbench` is the widget, and
``workbench.js`` is the part of the widget in the browser.
"""
