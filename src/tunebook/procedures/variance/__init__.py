"""The probe of variance: how much results differ with the seed alone, and where that comes from."""
