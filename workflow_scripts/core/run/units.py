"""Sizes and times in words."""

UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def size(n_bytes: float) -> str:
    """A number of bytes in words, of two or three digits."""
    unit, factor = next((u for u in UNITS if n_bytes >= u[1]), UNITS[-1])
    value = n_bytes / factor
    return f"{value:.1f} {unit}" if value < 99.95 else f"{value:,.0f} {unit}"


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 99.5:
        return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.1f} h"
