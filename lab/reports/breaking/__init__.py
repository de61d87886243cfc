"""Faulty rules of the pullback (`rules`), and their effect on derivatives (`breakage`)."""
