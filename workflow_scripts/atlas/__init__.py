"""atlas: what the study found out about every head, as data and as one page."""
