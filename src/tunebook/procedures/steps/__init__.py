"""The probe of steps: how many it takes to fit the training data."""
