"""Bundled tasks, real and small."""
