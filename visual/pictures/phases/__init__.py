"""The eleven phases of a derivation: `pieces` draws their parts, `sentences` explains them."""
