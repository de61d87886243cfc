"""The layout of pictures, and the parts that several kinds of pictures share.

Start with `table`, the rows of cells of a picture: `placing` computes their positions, and `arrows`
routes the arrows between cells. `lanes` lays out the boxes of an unrolled loop. `canvas` adds
headings, legend, and margins; `columns` maps time to columns; `cells` draws values in boxes;
`names` names quantities and cells. `sheet` fits a picture to a width; `graphviz` lays out graphs.
"""
