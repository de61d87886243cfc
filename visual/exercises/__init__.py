"""Questions, exercises, and tasks, with checked and explained answers.

Start with `exercise`: its widgets ask questions generated from a trace or written by an author, one
at a time or as a scored series. `work` checks the code of a learner. `questions` builds questions
from a trace, `answers` checks answers, and `progress` stores results. `sheet` contains the base
classes of the widgets and their HTML. ``exercise.js`` checks answers in a page.
"""
