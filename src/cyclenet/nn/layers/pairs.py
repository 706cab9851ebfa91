"""Matrices on the nodes of each graph of a batch, as rows that are never padded."""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor


class NodePairs:
    r"""All ordered pairs of nodes of the same graph, one row for each.

    In a batch of graphs with $n_1, n_2, \dots$ nodes, pair (u, v) of graph i, with u and v
    counted from 0 inside the graph, is row $n_1^2 + \dots + n_{i-1}^2 + u n_i + v$.

    What treats every pair alike works on the rows. What needs matrices (a product, attention)
    comes through `apply`, which hands over the graphs of equal size together. So nothing is padded,
    and no graph can notice its companions.

    Args:
        node_graph: The graph of each node, ascending.
        num_graphs: Number of graphs.
    """

    def __init__(self, node_graph: Int64[Tensor, " n"], num_graphs: int) -> None:
        sizes = node_graph.new_zeros(num_graphs)
        sizes = sizes.index_add(0, node_graph, torch.ones_like(node_graph))
        self.num_nodes = sizes
        self._node_graph = node_graph
        self._first_node = sizes.cumsum(0) - sizes
        self._first_pair = sizes.square().cumsum(0) - sizes.square()
        listed = sizes.tolist()
        self.num_pairs = sum(size**2 for size in listed)
        # Without any node there still is one call, on no graphs, so that channels are known.
        distinct = sorted({size for size in listed if size}) or [1]
        self._groups = [(size, (sizes == size).nonzero().squeeze(1)) for size in distinct]

    def row(self, first: Int64[Tensor, " r"], second: Int64[Tensor, " r"]) -> Int64[Tensor, " r"]:
        """The row of each pair of nodes.

        Args:
            first: Nodes of the batch.
            second: For each of them a node of the same graph.

        Returns:
            Row numbers.
        """
        graph = self._node_graph[first]
        start = self._first_node[graph]
        inside = (first - start) * self.num_nodes[graph] + second - start
        return self._first_pair[graph] + inside

    def diagonal(self) -> Int64[Tensor, " n"]:
        """The row of each node paired with itself."""
        nodes = torch.arange(self._node_graph.size(0), device=self._node_graph.device)
        return self.row(nodes, nodes)

    def graph(self) -> Int64[Tensor, " p"]:
        """The graph of each pair, ascending."""
        graphs = torch.arange(self.num_nodes.size(0), device=self.num_nodes.device)
        return graphs.repeat_interleave(self.num_nodes.square(), output_size=self.num_pairs)

    def apply(
        self,
        function: Callable[..., Tensor],
        *rows: Float[Tensor, "p _"],
        to: Literal["pairs", "nodes"] = "pairs",
    ) -> Float[Tensor, "r o"]:
        """What a function of matrices makes of the rows.

        Args:
            function: Takes a tensor (c, s, s, channels) for each of `rows`, which are c graphs of s
                nodes. Returns (c, s, s, channels), or (c, s, channels) for nodes. It must treat
                the graphs alike.
            rows: Rows of pairs.
            to: What the function returns one row for.

        Returns:
            One row for each pair, or for each node.
        """
        if len(self._groups) == 1:  # the usual case: graphs of one size lie as they are needed
            size, graphs = self._groups[0]
            blocks = (part.view(graphs.size(0), size, size, part.size(1)) for part in rows)
            return _as_rows(function(*blocks))
        first = self._first_pair if to == "pairs" else self._first_node
        done, places = [], []
        for size, graphs in self._groups:
            inside = torch.arange(size**2, device=graphs.device)
            place = self._first_pair[graphs].unsqueeze(1) + inside
            blocks = (part[place].unflatten(1, (size, size)) for part in rows)
            done.append(_as_rows(function(*blocks)))
            width = size**2 if to == "pairs" else size
            places.append((first[graphs].unsqueeze(1) + inside[:width]).flatten())
        return torch.cat(done)[torch.cat(places).argsort()]


def _as_rows(blocks: Float[Tensor, "*shape o"]) -> Float[Tensor, "r o"]:
    return blocks.reshape(blocks.shape[:-1].numel(), blocks.size(-1))
