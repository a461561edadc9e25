"""Models: loading, running, watching and changing their attention."""
