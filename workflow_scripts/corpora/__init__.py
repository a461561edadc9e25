"""Every text that a study reads, prepared and checked."""
