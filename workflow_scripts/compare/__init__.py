"""What changed in each head between two models of one shape."""

DIVERGENCE = "divergence"  # the measure of the maps themselves, next to other chapters' measures
