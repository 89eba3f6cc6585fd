"""Two processes that wait for one another at each step; a step takes longer with its batch."""

from __future__ import annotations

import argparse
import os
import time

import torch
import torch.distributed as dist

import tunebook


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--steps", type=int)
    options = parser.parse_args()

    dist.init_process_group("gloo")
    own = options.batch_size // dist.get_world_size()
    for step in range(1, options.steps + 1):
        time.sleep(2e-3 + 1e-4 * own)
        everyone = torch.tensor(1.0 / step)
        dist.all_reduce(everyone)
        tunebook.log({"loss": everyone.item()}, step=step)
    dist.barrier()
    dist.destroy_process_group()
    # Gloo's threads outlive their group, and torch has been seen to abort while Python shuts down.
    os._exit(0)


# Its tests are collected by importing it, which must not begin to train.
if __name__ == "__main__":
    main()
