"""The machine in a notebook and in a page: a widget, and an ES module that plays the machine.

Start with `widget`, which contains the widget `Machine`. `data` returns a machine as JSON.
``picture.js`` draws a moment, ``words.js`` describes it, and ``bar.js`` is the scrub bar;
``machine.js`` updates them. `page` writes the machines of a `grid` of choices, in which
``numbers.js`` recomputes the numbers. `state` reads and writes links.
"""
