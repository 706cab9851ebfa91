"""Raw files of ZINC with a few molecules, and a network that has them."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import torch
import torch_geometric.datasets.zinc
from torch_geometric.datasets import ZINC

SIZES = {"train": 9, "val": 5, "test": 4}


def entry(atoms, bonds, target):
    """A molecule as the raw files have it; bonds are (tail, head, type)."""
    matrix = torch.zeros(len(atoms), len(atoms), dtype=torch.int8)
    for tail, head, kind in bonds:
        matrix[tail, head] = matrix[head, tail] = kind
    return {
        "num_atom": len(atoms),
        "atom_type": torch.tensor(atoms, dtype=torch.int8),
        "bond_type": matrix,
        "logP_SA_cycle_normalized": torch.tensor([target], dtype=torch.float32),
    }


def drawn(rng):
    num_atoms = int(rng.integers(1, 8))
    pairs = {tuple(sorted(rng.choice(num_atoms, 2, replace=False))) for _ in range(num_atoms - 1)}
    bonds = [(*pair, int(rng.integers(1, 4))) for pair in pairs]
    return entry(rng.integers(0, 28, num_atoms).tolist(), bonds, float(rng.normal()))


def write_raw_files(root):
    """A few molecules of each split, of which the index files choose some, in another order."""
    rng = np.random.default_rng(0)
    raw = root / "ZINC" / "raw"
    raw.mkdir(parents=True)
    for name, size in SIZES.items():
        molecules = [drawn(rng) for _ in range(2 * size)]
        chosen = rng.permutation(2 * size)[:size]
        (raw / f"{name}.pickle").write_bytes(pickle.dumps(molecules))
        (raw / f"{name}.index").write_text(",".join(map(str, chosen)) + "\n")


def network_with(root, folder, monkeypatch):
    """What PyTorch Geometric would fetch: an archive with the pickles, and the index files.

    Gives the list of addresses, which grows with everything that is fetched.
    """
    raw = root / "ZINC" / "raw"
    shutil.copytree(raw, folder / "pack" / "molecules")
    archive = shutil.make_archive(str(folder / "molecules"), "zip", folder / "pack")
    fetched = []

    def download_url(url, into):
        fetched.append(url)
        source = Path(archive) if url == ZINC.url else raw / url.rsplit("/", 1)[1]
        return shutil.copy(source, into)

    monkeypatch.setattr(torch_geometric.datasets.zinc, "download_url", download_url)
    return fetched
