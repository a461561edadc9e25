"""The steps of the Attention Atlas: one folder per chapter, one file per rule, and core."""

import gc

# Imports leave no garbage to speak of, and looking for it takes a fifth of their time, so it is
# rare until `job.run` sets the usual thresholds again.
USUAL_THRESHOLDS = gc.get_threshold()
gc.set_threshold(100_000)
