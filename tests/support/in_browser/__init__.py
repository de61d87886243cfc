"""Chromium, and a JupyterLab server that Chromium can open, for tests and benchmarks."""
