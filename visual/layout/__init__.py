"""The parts that pictures are made of: layout, and the pieces that many pictures share.

Start with `table`: a picture lists rows of cells, and `placing` decides where they are; `arrows`
routes the arrows between them. `canvas` has headings and the end of every picture, `columns` is
time from left to right, `cells` draws values in boxes, and `names` has the names of quantities and
the keys that link pictures. `headings` describes a backward Scan, `legend` the roles; `grid` shows
the entries of an array. `routes` leads arrows through lanes and columns, `gutters` beside a column
of boxes. `graphviz` lays out graphs, whose boxes are `cards`.
"""
