"""`python -m tunebook` is `tunebook`."""

from __future__ import annotations

from tunebook.app.cli import main

if __name__ == "__main__":
    main()
