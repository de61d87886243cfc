"""Pictures of recordings: `eager`, and `two_tapes`, with the tapes of the Scan of the same loop."""
