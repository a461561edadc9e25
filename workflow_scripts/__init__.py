"""The steps of the Attention Atlas: one folder per chapter, one file per rule, and core."""
