"""The base class of all widgets, and their controls.

Start with `widget`: the base class, the static forms without a kernel, and the files of a script.
`sliders` describes controls, and `working` draws in a thread while the kernel accepts messages.
"""
