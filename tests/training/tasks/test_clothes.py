"""Fashion-MNIST: files in IDX format, good and bad, and Debian's where they are installed."""

from __future__ import annotations

import gzip
import re
import struct
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from tunebook.core.errors import ProgramError, StudyError
from tunebook.core.space import Config
from tunebook.training.tasks import fashion_mnist
from tunebook.training.tasks.clothes import (
    FOLDER,
    PACKAGE,
    FashionMnist,
    ImageExamples,
    flipped,
    read_idx,
)

installed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"Debian's package {PACKAGE} is not installed"
)


def idx(tensor: Tensor) -> bytes:
    """A tensor of bytes in IDX format."""
    header = struct.pack(f">HBB{tensor.dim()}I", 0, 8, tensor.dim(), *tensor.shape)
    return header + tensor.numpy().tobytes()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content, compresslevel=1, mtime=0))
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> FashionMnist:
    """A task of 64 training, 5,000 validation and 20 test images, each bright by its class."""
    folder = tmp_path_factory.mktemp("fashion")
    for part, count in (("train", 5064), ("t10k", 20)):
        labels = torch.arange(count, dtype=torch.uint8) % 10
        images = (labels * 25).view(-1, 1, 1).expand(-1, 28, 28).contiguous()
        images[:, 0, 0] = 255
        write(folder / f"{part}-images-idx3-ubyte.gz", idx(images))
        write(folder / f"{part}-labels-idx1-ubyte.gz", idx(labels))
    return FashionMnist(folder)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (4, 28, 28)])
def test_a_file_reads_back(tmp_path: Path, shape: tuple[int, ...]) -> None:
    tensor = torch.randint(0, 256, shape, dtype=torch.uint8)
    assert torch.equal(read_idx(write(tmp_path / "a.gz", idx(tensor))), tensor)


def test_a_missing_file_names_debians_package(tmp_path: Path) -> None:
    message = (
        f"the task fashion_mnist needs {tmp_path / 'train-images-idx3-ubyte.gz'}, which is not "
        "there; on Debian, install its package: apt install dataset-fashion-mnist"
    )
    with pytest.raises(ProgramError, match=re.escape(message)):
        FashionMnist(tmp_path).data({})


GOOD = idx(torch.zeros(3, 4, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is not a file of bytes in IDX format"),
        (GOOD[:3], "is not a file of bytes in IDX format"),
        (GOOD[:9], "is not a file of bytes in IDX format"),
        (GOOD[:-1], "is not a file of bytes in IDX format"),
        (GOOD + b"x", "is not a file of bytes in IDX format"),
        (b"\1" + GOOD[1:], "it begins with 01 00 08 02"),
        (b"\0\0\x0d" + GOOD[3:], "it begins with 00 00 0d 02"),
        (struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1), "IDX format"),
    ],
)
def test_a_file_of_another_format(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = write(tmp_path / "a.gz", content)
    with pytest.raises(ProgramError, match=f"{re.escape(str(path))}.*{complaint}"):
        read_idx(path)


@pytest.mark.parametrize("content", [b"", b"plain", gzip.compress(GOOD, mtime=0)[:-9]])
def test_a_file_that_cannot_be_unpacked(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    with pytest.raises(ProgramError, match=r"a\.gz (cannot be read|is not a file)"):
        read_idx(path)


def test_labels_and_images_must_be_equally_many(tmp_path: Path) -> None:
    write(tmp_path / "train-images-idx3-ubyte.gz", idx(torch.zeros(3, 28, 28, dtype=torch.uint8)))
    write(tmp_path / "train-labels-idx1-ubyte.gz", idx(torch.zeros(2, dtype=torch.uint8)))
    with pytest.raises(ProgramError, match=r"holds 2 labels for images of shape \(3, 28, 28\)"):
        FashionMnist(tmp_path).data({})


def test_the_last_images_validate_and_the_test_set_is_kept(small: FashionMnist) -> None:
    data = small.data({})
    assert data.test is not None
    assert (len(data.train), len(data.valid), len(data.test)) == (64, 5000, 20)
    _, first = data.valid.take(torch.tensor([0]))
    assert first.item() == 64 % 10
    assert data.augment is None


def test_fewer_examples_to_learn_from(small: FashionMnist) -> None:
    data = small.data({"train_examples": 10})
    assert (len(data.train), len(data.valid)) == (10, 5000)
    for count, complaint in ((65, "at most 64, got 65"), (0, "at least 1, got 0")):
        with pytest.raises(StudyError, match=f"train_examples must be .*{complaint}"):
            small.data({"train_examples": count})


def test_inputs_are_normalised_on_demand() -> None:
    images = torch.tensor([[[0, 255]]], dtype=torch.uint8)
    inputs, targets = ImageExamples(images, torch.tensor([7], dtype=torch.uint8)).take(
        torch.tensor([0])
    )
    expected = torch.tensor([[[[(0 - 0.2860) / 0.3530, (1 - 0.2860) / 0.3530]]]])
    torch.testing.assert_close(inputs, expected)
    assert (targets.dtype, targets.tolist()) == (torch.int64, [7])


def test_about_half_of_the_images_are_mirrored(small: FashionMnist) -> None:
    images = torch.arange(3.0).view(1, 1, 1, 3).expand(1000, 1, 1, 3)
    firsts = flipped(images, torch.Generator().manual_seed(0))[:, 0, 0, 0]
    assert set(firsts.tolist()) == {0.0, 2.0}
    assert 430 < (firsts == 2).sum() < 570
    assert small.data({"flip": True}).augment is flipped


@pytest.mark.parametrize(
    "params", [{"width": 4}, {"width": 4, "norm": "batch"}, {"width": 4, "norm": "layer"}]
)
def test_every_option_learns(small: FashionMnist, params: Config, few_steps) -> None:
    losses = few_steps(small, params)
    assert losses[-1] < 0.9 * losses[0]


def test_sizes() -> None:
    weights = 16 * 9 + 16 + 32 * 16 * 9 + 32 + 32 * 49 * 10 + 10
    assert parameters_to_vector(fashion_mnist.build({}).parameters()).numel() == weights


@pytest.mark.parametrize(
    ("params", "complaint"),
    [({"flip": 1}, "flip must be true or false, got 1"), ({"train_examples": "all"}, "got 'all'")],
)
def test_hostile_parameters(small: FashionMnist, params: Config, complaint: str) -> None:
    with pytest.raises(StudyError, match=complaint):
        small.data(params)


@installed
def test_debians_files() -> None:
    data = fashion_mnist.data({})
    assert data.test is not None
    assert (len(data.train), len(data.valid), len(data.test)) == (55_000, 5_000, 10_000)
    inputs, _ = data.train.take(torch.arange(0, 55_000, 10))
    assert inputs.mean().item() == pytest.approx(0, abs=0.01)
    assert inputs.std().item() == pytest.approx(1, abs=0.01)
    _, targets = data.valid.take(torch.arange(5000))
    assert targets.bincount().tolist() == pytest.approx([500] * 10, abs=60)
