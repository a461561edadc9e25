"""Faults that are really injected, and what becomes of them (docs/running.md)."""
