"""The lessons that come with the package, and `copies`, which writes them as notebooks."""
