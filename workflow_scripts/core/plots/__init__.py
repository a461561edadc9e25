"""How figures look."""
