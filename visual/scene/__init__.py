"""Pictures as values: `shapes` (start there), `combinators`, and how they become files.

A scene knows no backend: `formats` looks the one up that has registered for a suffix.
"""
