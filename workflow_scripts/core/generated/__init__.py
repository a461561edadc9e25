"""The grammar and lexicon of what the study generates."""
