"""What changed in each head between two models of one shape, such as before and after fine-tuning."""
