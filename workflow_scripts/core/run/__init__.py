"""What the author of a step needs: its interface, errors, and the study's config."""
