"""What each probe needs, as docs/probes.md has it.

`python -m tunebook.procedures` prints it; with a page it is put there, in place of the old one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tunebook.procedures.needed import document, put

if __name__ == "__main__":
    if len(sys.argv) > 1:
        page = Path(sys.argv[1])
        page.write_text(put(document(), page.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(document() + "\n")
