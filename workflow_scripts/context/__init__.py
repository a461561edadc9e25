"""Which key-value heads of a decoder need the whole context, and which its ends alone."""
