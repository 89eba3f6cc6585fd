"""Texts that must not change by accident: public names, command-line flags, shapes of `--json`.

from snapshots import check_snapshot

check_snapshot("public_names.txt", "\\n".join(sorted(tunebook.__all__)))
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"
# Read here, because the tests themselves see none of the caller's variables.
UPDATE = bool(os.environ.get("TUNEBOOK_UPDATE_SNAPSHOTS"))


def check_snapshot(name: str, text: str, folder: Path = FOLDER, update: bool = UPDATE) -> None:
    """Compare a text with the file `name` under tests/snapshots, or write it there.

    A missing file counts as an empty one; a last line break is added to either.
    """
    path = folder / name
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = text.rstrip("\n") + "\n" if text.strip() else ""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(after, encoding="utf-8")
    elif before != after:
        changes = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
        lines = [line for line in changes if not line.startswith(("---", "+++", "@@"))]
        raise AssertionError(
            f"tests/snapshots/{name} says something else:\n"
            + "\n".join(lines)
            + "\nIf users should see this change, write it into CHANGELOG.md and run the test with "
            "TUNEBOOK_UPDATE_SNAPSHOTS=1."
        )
