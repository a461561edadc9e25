"""What keeps products true: records, what is stale, and one writer at a time."""
