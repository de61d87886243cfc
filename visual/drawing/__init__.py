"""From a loop, or the derivative of a graph, to any of its pictures.

Start with `draw`.  `catalogue` has the pictures by their names, and what can be chosen about each;
a `study` builds and runs what they are drawn from; `export` writes all of them, `figures` draws the
eight of the lesson.
"""
