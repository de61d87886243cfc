"""Questions about a graph, a room each.

`explain`: what does it do?  `compare`: what does PyTensor's own pullback give?  `compile`: what is
left when it is compiled?  `breaking`: what if a rule is broken?  `calls`: what was `pytensor.scan`
given, and what did it make of that?  In each a function makes a frozen record, which `tables`
writes as text or HTML.
"""
