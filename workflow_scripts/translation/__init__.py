"""Translation: an encoder-decoder, its heads of three types masked and pruned (Michel et al.)."""
