"""What the page and the report list of a study, with captions."""
