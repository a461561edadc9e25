"""claims: what the papers state, judged on the study at hand."""
