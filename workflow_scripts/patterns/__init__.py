"""Vertical, diagonal, both, block, heterogeneous: classes of maps (Kovaleva et al. 2019, 4.1)."""
