"""The tape picture: what every backward step reads, overwrites and leaves.

Start with `tapes`; it draws a `forward` block and a `backward` one for every derivative.  `lanes`
says what every slot of a tape is at every step, `arrows` what happens to a value on its way.
"""
