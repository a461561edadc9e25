"""What is read and written: caches, corpora, tasks and tables."""
