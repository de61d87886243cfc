"""The tape picture: the slots that every backward step reads, overwrites, and preserves.

Start with `tapes`. `forward` and `backward` list the rows of a loop and of a derivative.
`slots` computes the role and the value of every slot at every step.
"""
