"""Heads and layers disabled one at a time, and all but one (Kovaleva 4.6, Michel 3)."""
