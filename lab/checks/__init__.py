"""Check derivatives with finite differences and dot products.

Start with `check`, which is `lab.check`.
"""
