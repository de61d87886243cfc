"""The picture `phases`: `pieces` draws the parts of a step, and `sentences` explains them."""
