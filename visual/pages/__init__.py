"""Reports of `lab` as pages of HTML with pictures: an `explanation`, and a `comparison`."""
