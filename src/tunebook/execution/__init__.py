"""Run a program on attempts and tell what happens."""
