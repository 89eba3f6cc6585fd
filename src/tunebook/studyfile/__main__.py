"""`python -m tunebook.studyfile` prints the JSON Schema of study files."""

from __future__ import annotations

import json
import sys

from tunebook.studyfile.shape import json_schema

if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=2) + "\n")
