"""What `pytensor.scan` was given, what it made of it, and what its variables are called.

`canonical` lays both side by side, `vocabulary` has the words, `few_steps` tells what becomes of
one step, of none, and of fewer.
"""
