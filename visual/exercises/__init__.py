"""Predict, then reveal: questions about a trace, checked and explained.

Start with `exercise`: what is asked, one by one or as a series with a score; `question` is one that
a person wrote.  `answers` checks what is answered.  `kinds` has the table of what can be asked, and
`slots_and_numbers` and `taps_and_scans` make the questions, with pictures of a tape at an
`asked_step`.  `puzzles` are loops with something missing, `work` is code that a person writes;
`progress` keeps the score.  `page` and `widget` show them, both with ``exercise.js``, which checks
answers as `answers` does.
"""
