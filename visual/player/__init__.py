"""The machine in a notebook and in a page: one ES module plays it, `Machine` is its widget.

Start with `widget`. `data` writes a machine as JSON; `picture.js` draws it at a moment,
`words.js` describes the moment, `bar.js` is the scrub bar, and `machine.js` moves all of them.
"""
