"""The probe of stability: whether it keeps the learning rate below its best."""
