"""Claims' numbers and verdicts computed a second time, with pandas and numpy alone."""
