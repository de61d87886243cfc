"""The tape picture: the slots that every backward step reads, overwrites, and preserves.

`tapes` is the picture. `forward` lists the rows of a loop and `backward` the rows of a derivative;
`slots` has the role and the value of every slot of a tape at every step.
"""
