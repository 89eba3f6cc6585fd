"""The same training by Lightning's Trainer, beside the bare loop; run by `.venv-bench`'s Python."""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings

import lightning
import torch
from bare_loop import (
    BATCH,
    LEARNING_RATE,
    LOG_EVERY,
    MOMENTUM,
    bare,
    each_of,
    examples,
    network,
)
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.model = network()

    def training_step(self, batch, number):
        inputs, targets = batch
        loss = nn.functional.cross_entropy(self.model(inputs), targets)
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)


def trainer(steps: int) -> float:
    """Seconds for some steps of the Trainer, with all that it could leave out left out."""
    data = TensorDataset(*examples())
    # Whole batches are fetched at once: Lightning's usual way, one example at a time, is slower.
    batches = BatchSampler(RandomSampler(data), BATCH, drop_last=False)
    loader = DataLoader(data, sampler=batches, batch_size=None)
    made = lightning.Trainer(
        max_steps=steps,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=LOG_EVERY,
    )
    module = Module()
    began = time.perf_counter()
    made.fit(module, loader)
    return time.perf_counter() - began


def main() -> None:
    steps, repeats = int(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    bare(20)
    trainer(20)
    print(json.dumps([[each_of(bare, steps), each_of(trainer, steps)] for _ in range(repeats)]))


if __name__ == "__main__":
    main()
