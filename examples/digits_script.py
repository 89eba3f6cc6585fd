"""A plain PyTorch script: three lines make it appear in the book."""

import torch
from sklearn.datasets import load_digits
from torch import nn

import tunebook

config = {"width": 64, "learning_rate": 0.01, "steps": 400}
run = tunebook.init(project="digits-script", config=config, metric="valid/error")

pixels, labels = load_digits(return_X_y=True)
X, Y = torch.tensor(pixels, dtype=torch.float32) / 16, torch.tensor(labels)
model = nn.Sequential(nn.Linear(64, config["width"]), nn.ReLU(), nn.Linear(config["width"], 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
for step in range(1, config["steps"] + 1):
    chosen = torch.randint(0, 1400, (64,))
    loss = nn.functional.cross_entropy(model(X[chosen]), Y[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        error = (model(X[1400:]).argmax(1) != Y[1400:]).float().mean()
        run.log({"train/loss": loss.item(), "valid/error": error.item()}, step=step)

run.finish()
