"""The steps of the Attention Atlas: one folder per chapter, one file per rule, and core."""

import gc
import sys

# While a job imports, all that is made stays: looking for garbage took a fifth of the time.
if hasattr(sys.modules["__main__"], "snakemake"):
    gc.disable()
