"""Predict, then reveal: questions about a trace, checked and explained.

Start with `exercise`: what is asked, one by one or as a series with a score; `question` is one that
a person wrote.  `answers` checks what is answered.  `questions` makes those of a trace.  `puzzles`
are loops with something missing, `work` is code that a person writes; `progress` keeps the score.
`page` and `sheet` show them, both with ``exercise.js``, which checks answers as `answers` does.
"""
