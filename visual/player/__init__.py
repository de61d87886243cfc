"""The machine in a notebook and in a page: one ES module plays it, `Machine` is its widget.

Start with `widget`.  `data` writes a machine as JSON; `picture.js` draws it at a moment,
`machine.js` has the controls.
"""
