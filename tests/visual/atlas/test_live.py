"""What a page computes from other values of a loop is what Python draws with them.

The page's own functions are run by a browser; Python runs the loop with the same values, by
PyTensor, and draws the same picture.
"""
