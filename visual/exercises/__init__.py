"""Questions, exercises, puzzles, and tasks, checked and explained.

Start with `exercise`: questions about a trace, single or as a series with a score. `question` is a
question that an author writes, `work` checks code that a learner writes, and `puzzles` are loops
with a missing part. `answers` checks answers, `questions` builds questions from a trace, and
`progress` stores results. `page` writes HTML; ``exercise.js`` checks answers as `answers` does.
"""
