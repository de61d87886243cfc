"""Pictures as values: `shapes` (start there), how their roles look, and how they become files.

A scene knows no backend: `formats` looks the one up that has registered for a suffix.
"""
