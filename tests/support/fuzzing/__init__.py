"""What is made up at random, and what may become of it."""
