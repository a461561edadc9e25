"""What fine-tuning changes in attention (Kovaleva et al. 2019, sections 4.3 to 4.5)."""
