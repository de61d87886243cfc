"""The picture `tapes`: `forward` and `backward` list its rows, with the states in `slots`."""
