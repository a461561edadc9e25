"""Classes of attention maps, such as vertical or diagonal (Kovaleva et al. 2019, section 4.1)."""
