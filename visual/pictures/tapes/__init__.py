"""What each step reads and overwrites: `tapes` draws the rows of `forward` and `backward`."""
