"""What the author of a step needs: its interface, files and downloads, and the study's config."""
