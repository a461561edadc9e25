"""What changed in each head between two models of one shape."""
