"""Questions, exercises, puzzles, and tasks, checked and explained.

Start with `exercise`, which asks questions about a trace, single or in a series with a score. An
author writes a `question`, `work` checks code that a learner writes, and `puzzles` are loops with a
missing part. `answers` checks answers, `questions` builds questions from a trace, and `progress`
stores results. `page` writes HTML, and ``exercise.js`` checks answers by the rules of `answers`.
"""
