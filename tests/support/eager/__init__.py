"""Inputs of the eager tape: functions of NumPy with arguments, and programs."""
