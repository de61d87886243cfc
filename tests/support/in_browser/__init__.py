"""What tests and benchmarks need in a browser: Chromium, and a JupyterLab that it can open."""
