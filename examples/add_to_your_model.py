"""Add the encoding to your own model: one more module, one more argument.

Is it one ring or two? Every node has two neighbours either way, so message passing must guess.
"""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINEConv, global_mean_pool

import cyclenet as cn


class MyNet(torch.nn.Module):
    """A network of yours whose convolution can read attributes of arcs."""

    def __init__(self, with_cycles: bool) -> None:
        super().__init__()
        self.encode = cn.PEOIEncoder(16) if with_cycles else None  # the new module
        self.convolution = GINEConv(torch.nn.Linear(8, 32), edge_dim=16)
        self.head = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def forward(self, batch):
        if self.encode is None:
            arcs = torch.ones(batch.edge_index.size(1), 16)
        else:
            arcs = self.encode(batch)  # a row for each column of edge_index
        nodes = self.convolution(batch.x, batch.edge_index, arcs)
        return self.head(global_mean_pool(nodes, batch.batch)).squeeze(1)


def rings(*sizes: int) -> torch.Tensor:
    """Arcs of rings side by side, in both directions."""
    first = torch.tensor(sizes).cumsum(0) - torch.tensor(sizes)
    arcs = [
        (start + k, start + (k + 1) % size)
        for start, size in zip(first.tolist(), sizes, strict=True)
        for k in range(size)
    ]
    return torch.tensor(arcs + [(b, a) for a, b in arcs]).T


def graph(sizes: tuple[int, ...]) -> Data:
    """A graph of rings; the label says whether it is one."""
    return Data(
        x=torch.ones(sum(sizes), 8), edge_index=rings(*sizes), y=torch.tensor([float(len(sizes))])
    )


transform = cn.AddShortestCycleBasis()
graphs = [transform(graph(sizes)) for k in range(3, 23) for sizes in ((2 * k,), (k, k))]
train = DataLoader([g for i, g in enumerate(graphs) if i % 4 < 2], batch_size=10, shuffle=True)
test = next(iter(DataLoader([g for i, g in enumerate(graphs) if i % 4 >= 2], batch_size=40)))

for with_cycles in (False, True):
    torch.manual_seed(0)
    model = MyNet(with_cycles)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(60):
        for batch in train:
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(model(batch), batch.y)
            loss.backward()
            optimiser.step()
    right = (model.eval()(test).round() == test.y).float().mean()
    print(f"{'with' if with_cycles else 'without'} cycles: {right:.0%} right on new graphs")
