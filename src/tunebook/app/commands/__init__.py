"""The commands, a module each; every one imports what it needs when it runs."""
