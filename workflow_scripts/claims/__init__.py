"""claims: what the papers say, judged on the study at hand."""
