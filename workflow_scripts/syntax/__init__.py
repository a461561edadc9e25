"""Single heads as dependency parsers (Clark et al. 2019, section 4.2)."""
