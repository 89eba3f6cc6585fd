"""The functions of the C library that Python has none for; None where the system is another."""

from __future__ import annotations

import ctypes
import sys

# Loaded once, before any fork: a child of a threaded process must not load libraries.
libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
