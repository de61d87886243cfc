"""What is given to the eager tape: numpy's functions with arguments, and whole programs."""
