"""Weights that the study itself trains: fine-tuned classifiers and the masked-LM head."""
