"""What a run tells of a loop as a whole: where a value is first met, and what led there.

Start with `first`.  `influence` tells what the end remembers, `memory` what a gradient keeps;
`directions` and `orders` hold forward, backward and Taylor mode beside one another.
"""
