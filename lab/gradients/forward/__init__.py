"""Forward derivatives: what moves is carried along the graph, in the direction of the loop.

Start with `series`, which takes coefficients of any order along a graph and its Scans.  The rules
for single operations are in `pushforward`, of first order, and in `taylor`, of any.  Which mode a
derivative is made by is chosen in `lab.gradients.derivative`.
"""
