"""What the benchmarks share: where their peers are, how one is asked, and how a claim is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
PEER_PYTHON = BENCHMARKS.parent / ".venv-bench" / "bin" / "python"
# JSON knows no infinity.
_MOST = 1e9


def require_peers() -> None:
    """Leave, and say why, where the peers are not installed."""
    if not PEER_PYTHON.exists():
        print("The peers are not installed: run `make bench-setup` first.", file=sys.stderr)
        raise SystemExit(2)


def peer(script: str, *arguments: object, told: str = "", attempts: int = 1) -> str:
    """The last line that a peer's script prints; it may be told something on its input."""
    command = [PEER_PYTHON, BENCHMARKS / "peers" / script, *map(str, arguments)]
    for _ in range(attempts):
        done = subprocess.run(command, input=told, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.splitlines()[-1]
    sys.exit(f"{script} failed:\n{done.stderr[-2000:]}")


def claim(
    text: str, op: str, goal: float, values: Sequence[float], digits: int = 4
) -> dict[str, object]:
    """A claim with its goal and the raw value of every repeat."""
    kept = [round(min(value, _MOST), digits) for value in values]
    return {"claim": text, "op": op, "goal": goal, "values": kept}


def print_claims(claims: Iterable[dict[str, object]]) -> None:
    """The last line of a benchmark, for machines."""
    print(json.dumps({"claims": [*claims]}))
