"""How a step runs: its interface, errors, the study's config, and what makes it stale."""
