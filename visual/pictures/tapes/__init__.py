"""The tape picture: the slots that every backward step reads, overwrites, and preserves.

Start with `tapes`. `forward` lists the rows of a loop, and `backward` the rows of a derivative.
`slots` computes the role and the value of every slot at every step.
"""
