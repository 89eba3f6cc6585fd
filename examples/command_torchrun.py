"""Two processes that share a model; the first one's `tunebook.log` counts."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

import tunebook

parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float)
parser.add_argument("--seed", type=int)
parser.add_argument("--steps", type=int)
options = parser.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(options.seed)
model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
target = torch.randn(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate)
torch.manual_seed(options.seed + 1 + rank)
for step in range(options.steps):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x), x @ target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    everyone = loss.detach().clone()
    dist.all_reduce(everyone)
    # Every process may say so; of the first one it is heard.
    tunebook.log({"loss": everyone / dist.get_world_size(), "rank": rank}, step=step)
dist.barrier()
dist.destroy_process_group()
# Gloo's threads outlive their group, and torch has been seen to abort while Python shuts down
# beside them.
os._exit(0)
