"""The probe of batch sizes: which fit, which are fast, and which reach a goal soonest."""
