"""What pictures are put together from: where things stand, and the pieces that many pictures share.

Start with `canvas`, on which every picture is drawn; `columns` is time from left to right, `cells`
what stands in a box, and `names` what it is called and which key links it with other pictures.
`headings` says what a backward Scan is, `legend` what colours are; `grid` shows the entries of an
array.
Arrows find their way by `detours` around the cells of a tape, by `routes` through lanes and
columns, and by `gutters` beside a column of boxes.  `graphviz` places graphs, whose boxes are
`cards`.
"""
