"""The machine in a notebook and in a page: a widget, and an ES module that plays the machine.

Start with `widget`, which contains the widget `Machine`. `data` returns a machine as JSON.
``picture.js`` draws a moment, ``words.js`` describes the moment, ``bar.js`` is the scrub bar, and
``machine.js`` updates the picture, the words, and the bar.
"""
