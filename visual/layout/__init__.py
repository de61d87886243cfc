"""The layout of pictures, and the pieces that several pictures share.

Start with `table`: a picture lists rows of cells, `placing` computes their positions, and `arrows`
routes the arrows between them. `canvas` adds headings, legend, and margins; `columns` maps time to
columns; `cells` draws values in boxes; `names` has the names of quantities and the keys that link
pictures. `headings` describes a backward Scan, and `legend` the roles. `routes` leads arrows
through lanes, and `graphviz` lays out graphs.
"""
