"""A training function: everything is in your hands, and `run` is told what happens."""

import torch
from sklearn.datasets import load_digits
from torch import nn

pixels, labels = load_digits(return_X_y=True)
X, Y = torch.tensor(pixels, dtype=torch.float32) / 16, torch.tensor(labels)
TRAIN, VALID = slice(0, 1400), slice(1400, None)


def train(run):
    torch.manual_seed(run.seed)
    model = nn.Sequential(nn.Linear(64, run["width"]), nn.ReLU(), nn.Linear(run["width"], 10))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=run["learning_rate"], weight_decay=run["weight_decay"]
    )
    begin = 0
    if saved := run.resume():
        state = torch.load(saved / "state.pt", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        begin = state["step"]
    for step in range(begin + 1, int(run.budget.amount) + 1):
        chosen = torch.randint(0, 1400, (64,))
        loss = nn.functional.cross_entropy(model(X[chosen]), Y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            with torch.no_grad():
                error = (model(X[VALID]).argmax(1) != Y[VALID]).float().mean()
            run.log({"train/loss": loss.item(), "valid/error": error.item()}, step=step)
        if step % 200 == 0 or run.should_stop:
            with run.checkpoint(step) as folder:
                parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save({**parts, "step": step}, folder / "state.pt")
        if run.should_stop:
            return
