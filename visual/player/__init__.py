"""The machine in a notebook and in a page: `Machine` is the widget, an ES module plays the machine.

Start with `widget`. `data` writes a machine as JSON; `picture.js` draws a moment,
`words.js` describes the moment, `bar.js` is the scrub bar, and `machine.js` moves all of them.
"""
