"""Scantape's engine."""
from lab.pullback import derive, pullback
