"""What weights do not show: how much of what is read from each token goes into the output."""
