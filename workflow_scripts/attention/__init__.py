"""The attention caches, of pretrained and of fine-tuned models."""
