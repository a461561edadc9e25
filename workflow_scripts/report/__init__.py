"""The report: its front page, a page for each printed table, and the claims' page."""
