"""What a run tells of a loop as a whole: where a value is first met, and what led there.

Start with `first`.  `directions` holds what goes forwards beside what goes backwards.
"""
