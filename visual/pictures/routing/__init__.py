"""Pictures of where, cat, narrow, and clamp: `routing`, and `transposed` for a step of a tape."""
