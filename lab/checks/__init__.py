"""Whether derivatives are right: finite differences, dot products, and comparisons that can fail.

Start with `check`, which is `lab.check`.
"""
