"""The pictures of routing: where every entry of where, cat, narrow and clamp goes and comes from.

Start with `routing`, which draws what `routed` computes as the cells of a `layout`; `transposed`
shows a narrowed loop's transposed step, from `transposed_step`.
"""
