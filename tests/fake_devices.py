"""Accelerators that are not there: an `nvidia-smi` that reads files, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class FakeSmi:
    """A folder for the PATH, in which `nvidia-smi` tells what a test has put down."""

    def __init__(self, folder: Path, uuids: Sequence[str]) -> None:
        self.folder = folder
        self.apps = folder / "apps"
        folder.mkdir(parents=True)
        self.apps.touch()
        gpus = "".join(f"{index}, {uuid}\n" for index, uuid in enumerate(uuids))
        (folder / "gpus").write_text(gpus)
        self.script(
            f'case "$1" in --query-gpu=*) exec cat {folder}/gpus;; '
            f"--query-compute-apps=*) exec cat {folder}/apps;; esac; exit 2"
        )

    def script(self, text: str) -> None:
        """What the tool does when it is called."""
        tool = self.folder / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\n{text}\n")
        tool.chmod(0o755)

    def put(self, uuid: str, pid: int, memory: str, name: str) -> None:
        """A process on an accelerator."""
        self.apps.write_text(self.apps.read_text() + f"{uuid}, {pid}, {memory}, {name}\n")

    def clear(self) -> None:
        self.apps.write_text("")
