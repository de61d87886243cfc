"""Questions, exercises, and tasks, with checked and explained answers.

Start with `exercise`, which asks questions about a trace or questions that an author writes, single
or in a series with a score. `work` checks the code of a learner.
`questions` builds questions from a trace, `answers` checks answers, and `progress` stores results.
`sheet` contains the widgets and their HTML. ``exercise.js`` checks answers in a page by the rules
of `answers`.
"""
