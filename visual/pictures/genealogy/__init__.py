"""The genealogy of Scans: `genealogy` draws it, and `explanation` gives the reasons."""
