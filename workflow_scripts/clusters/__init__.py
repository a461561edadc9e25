"""Distances between heads and the clusters they form (Clark et al. 2019, section 6)."""
