"""Rules of the pullback, broken on purpose, and where it shows.

Start with `rules`; a new one goes there.  `breakage` is what comes of it.
"""
