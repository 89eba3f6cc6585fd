"""The task of digits_task.py on two processes: torchrun --nproc-per-node 2 digits_torchrun.py"""

from digits_task import digits

import tunebook
from tunebook.training.loop import train

config = {"width": 64, "learning_rate": 0.01, "batch_size": 64, "steps": 400, "eval_every": 50}

# Every process asks for the run; the first one's is in the book.
run = tunebook.init(project="digits-torchrun", config=config, metric="valid/error")
train(digits, run)
run.finish()
