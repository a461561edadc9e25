"""What keeps products true: records, what is stale, one writer at a time, and full disks."""
