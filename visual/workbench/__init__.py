"""A loop, or a graph of PyTensor's, with controls for all that can be chosen about it.

Start with `bench`: a subject, what is chosen about it, and its picture.  `controls` makes records
of it, of which ``form.js`` makes a form, and tells what becomes of it when one of them is used;
`written` reads a loop from a text, `cell` writes a bench as Python, and `workbench` is the widget,
whose other half is ``workbench.js``.
"""
