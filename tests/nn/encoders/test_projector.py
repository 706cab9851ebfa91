"""The projector encoder: its matrices against dense ones, and the counts of the paper."""

import copy

import numpy as np
import pytest
import torch
from bad_input import refused
from hypothesis import given
from named_graphs import cycle, grid, path, rook, shrikhande
from strategies import arcs_of, batches, examples
from torch_geometric.data import Batch, Data

import cyclenet as cn
from cyclenet.nn.encoders import ProjectorEncoder, projector
from cyclenet.nn.encoders.matrices import Matrix, contractions_of, entries_of, pair_index
from cyclenet.nn.layers.equivariant import contract
from cyclenet.topology import arc_projector, cycle_projector, hodge_laplacian
from cyclenet.transforms import (
    AddHarmonicSums,
    AddHodgeSums,
    AddLaplacianBounds,
    LiftToCliqueComplex,
)

MATRICES = [Matrix(s, on) for s in ("projector", "hodge") for on in ("arcs", "abs", "single")]


def batch_of(several, **options):
    items = []
    for edges, num_nodes in several:
        arcs = torch.from_numpy(np.concatenate((edges, edges[::-1]), axis=1))
        transform = cn.AddCycleProjector(dtype=torch.float64, **options)
        items.append(transform(Data(edge_index=arcs, num_nodes=num_nodes)))
    return Batch.from_data_list(items), items


def dense(matrix, item):
    """The matrix on edges, or on all edges one way and then the other way."""
    edges, num_nodes = item.edges.numpy(), int(item.num_nodes)
    m = edges.shape[1]
    if matrix.source == "projector":
        signed = cycle_projector(edges, num_nodes)
    else:
        signed = hodge_laplacian(edges, num_nodes).toarray()
        degrees = np.bincount(edges.ravel(), minlength=num_nodes)
        signed = signed / max(degrees[edges].sum(0).max(initial=0), 1)
    if matrix.on == "abs":
        return np.abs(signed)
    if matrix.on == "single":
        return signed + 1
    if matrix.source == "hodge":
        return np.block([[signed, -signed], [-signed, signed]])
    ids, signs = np.tile(np.arange(m), 2), np.repeat([1, -1], m)
    return arc_projector(signed, ids, signs)


@pytest.mark.parametrize("pairs", ["blocks", "graph"])
@pytest.mark.parametrize("matrix", MATRICES)
@given(several=batches(max_nodes=7))
@examples(15, 500)
def test_entries_and_contractions_are_those_of_the_dense_matrix(matrix, pairs, several):
    if not several:
        return
    batch, items = batch_of(several, pairs=pairs)
    index = pair_index(batch, matrix.sheets)
    entries = entries_of(matrix, batch, index, torch.float64)
    found = contract(entries, index)
    short = contractions_of(matrix, batch, torch.float64)
    for name in ("diagonal", "rows", "columns", "trace", "total"):
        torch.testing.assert_close(getattr(found, name), getattr(short, name), rtol=0, atol=1e-12)
    first = edges = 0
    for i, item in enumerate(items):
        m = item.edges.size(1)
        expected = dense(matrix, item)
        mine = entries[first : first + m * m, :, 0].view(m, m, matrix.sheets).numpy()
        for sheet in range(matrix.sheets):
            np.testing.assert_allclose(
                mine[..., sheet], expected[:m, sheet * m :][:, :m], atol=1e-12
            )
        size = max(expected.shape[0], 1)
        np.testing.assert_allclose(found.trace[i, 0], expected.trace() / size, atol=1e-12)
        np.testing.assert_allclose(found.total[i, 0], expected.sum() / size**2, atol=1e-12)
        rows = found.rows[edges : edges + m, 0]
        np.testing.assert_allclose(rows, expected.sum(1)[:m] / size, atol=1e-12)
        first, edges = first + m * m, edges + m


FILLED = (
    LiftToCliqueComplex(),
    AddHodgeSums(dtype=torch.float64),
    AddHarmonicSums(dtype=torch.float64),
    AddLaplacianBounds(dtype=torch.float64),
)


@pytest.mark.parametrize("on", ["arcs", "abs"])
@pytest.mark.parametrize("source", ["harmonic", "filled_hodge"])
@given(several=batches(max_nodes=7))
@examples(15, 500)
def test_contractions_of_a_complex_are_those_of_its_dense_matrix(source, on, several):
    items = []
    for edges, num_nodes in several:
        arcs = torch.from_numpy(np.concatenate((edges, edges[::-1]), axis=1))
        items.append(transformed(FILLED, Data(edge_index=arcs, num_nodes=num_nodes)))
    if not items:
        return
    matrix, batch = Matrix(source, on), Batch.from_data_list(items)
    found, edges = contractions_of(matrix, batch, torch.float64), 0
    for i, item in enumerate(items):
        m = item.edges.size(1)
        signed = hodge_laplacian(item.edges.numpy(), item.num_nodes).toarray()
        sides = np.zeros((m, int(item.num_faces)))
        sides[tuple(item.face_incidence.numpy())] = item.face_sign.numpy()
        signed = signed + sides @ sides.T
        values, vectors = np.linalg.eigh(signed)
        if source == "harmonic":
            kernel = vectors[:, values < 1e-8]
            signed = kernel @ kernel.T
        else:
            signed = signed / max(values.max(initial=0), 1e-300)
        expected = np.abs(signed)
        if on == "arcs" and source == "harmonic":
            equal = np.eye(m)
            sheets = (equal + signed) / 2, (equal - signed) / 2
            expected = np.block([[sheets[0], sheets[1]], [sheets[1], sheets[0]]])
        elif on == "arcs":
            expected = np.block([[signed, -signed], [-signed, signed]])
        size = max(expected.shape[0], 1)
        np.testing.assert_allclose(found.trace[i, 0], expected.trace() / size, atol=1e-9)
        np.testing.assert_allclose(found.total[i, 0], expected.sum() / size**2, atol=1e-9)
        mine = slice(edges, edges + m)
        np.testing.assert_allclose(found.diagonal[mine, 0], expected.diagonal()[:m], atol=1e-9)
        np.testing.assert_allclose(found.rows[mine, 0], expected.sum(1)[:m] / size, atol=1e-9)
        edges += m


def transformed(transforms, data):
    for transform in transforms:
        data = transform(data)
    return data


def test_of_a_complex_only_sums_are_stored():
    with refused(ValueError, "`depth` must be 'contracted' for `source` = 'harmonic'"):
        ProjectorEncoder(4, source="harmonic")


@given(several=batches(max_nodes=7))
@examples(30, 1000)
def test_transposed_pairs_are_those_with_row_and_column_exchanged(several):
    if not several:
        return
    index = pair_index(batch_of(several)[0], 1)
    assert torch.equal(index.rows[index.transposed], index.columns)
    assert torch.equal(index.columns[index.transposed], index.rows)
    assert torch.equal(index.rows[index.diagonal], index.columns[index.diagonal])


@pytest.mark.parametrize(
    ("width", "printed"), [(122, 46_482), (77, 18_942), (40, 5_400), (128, 51_072)]
)
def test_frozen_coefficients_give_the_printed_numbers_of_parameters(width, printed):
    options = {"depth": "contracted", "printed_size": True}
    frozen = ProjectorEncoder(width, train_coefficients=False, **options)
    learning = ProjectorEncoder(width, **options)

    def count(module):
        return sum(p.numel() for p in module.parameters() if p.requires_grad)

    assert count(frozen) == printed
    assert count(learning) == printed + 6 * width + 4 * (2 * width**2 + width)


def test_the_published_scale_makes_an_untrained_network_almost_constant():
    edges = torch.tensor([[0, 0, 1, 2, 3], [1, 2, 3, 3, 4]])
    item = cn.AddCycleProjector()(Data(edge_index=edges, num_nodes=5))
    torch.manual_seed(0)
    spread = [
        float((encoder.eval()(item).std(0).mean() / encoder(item).abs().mean()).detach())
        for encoder in (
            ProjectorEncoder(128, depth="contracted", train_coefficients=False),
            ProjectorEncoder(128, depth="contracted"),
        )
    ]
    assert spread[0] < 1e-4 < 1e-2 < spread[1]


@given(st_arcs=arcs_of(np.array([[0, 0, 1, 2], [1, 2, 2, 3]])))
@examples(20, 200)
def test_both_arcs_of_an_edge_get_the_same_row(st_arcs):
    item = cn.AddCycleProjector()(Data(edge_index=torch.from_numpy(st_arcs), num_nodes=4))
    rows = ProjectorEncoder(4).eval()(item)
    for edge in range(4):
        mine = rows[item.arc_to_edge == edge]
        assert torch.equal(mine, mine[:1].expand_as(mine))


@pytest.mark.parametrize("on", ["arcs", "abs"])
def test_no_seed_is_blind_before_training(on):
    """Some ReLU of the first layer bends between two entries of P, whatever was drawn."""
    several, _ = batch_of([rook(), shrikhande()])
    for seed in range(20):
        torch.manual_seed(seed)
        encoder = ProjectorEncoder(8, on=on, num_layers=2, pair_channels=8).double().eval()
        one, other = encoder.encode_edges(several).chunk(2)
        assert (one.mean(0) - other.mean(0)).abs().max() > 1e-6, seed


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("source", ["projector", "hodge"])
@pytest.mark.parametrize("on", ["arcs", "abs"])
def test_edges_with_equal_numbers_are_read_once_and_count_as_often(on, source, mode, monkeypatch):
    batch, _ = batch_of([cycle(5), path(6), rook(), cycle(5), cycle(4)])
    torch.manual_seed(0)
    encoder = ProjectorEncoder(6, depth="contracted", on=on, source=source).double()
    encoder.train(mode == "train")
    before = copy.deepcopy(encoder.state_dict())
    answers = []
    for sorts in (True, False):
        monkeypatch.setattr(projector, "can_be_sorted", lambda batch, sorts=sorts: sorts)
        encoder.load_state_dict(before)
        encoder.zero_grad()
        rows, place = encoder.shared_rows(batch)
        assert (rows.size(0) <= batch.edges.size(1) // 2 + 1) == sorts
        rows = rows.index_select(0, place)
        rows.sin().sum().backward()
        gradients = [weight.grad.clone() for weight in encoder.parameters()]
        state = {name: value.clone() for name, value in encoder.state_dict().items()}
        answers.append((rows.detach(), gradients, state))
    torch.testing.assert_close(*answers, rtol=1e-9, atol=1e-9)


def test_edges_that_differ_all_have_rows_of_their_own():
    batch, _ = batch_of([grid(3, 4), grid(4, 5)])
    rows, _ = ProjectorEncoder(4, on="abs").double().shared_rows(batch)
    assert rows.size(0) == batch.edges.size(1) + 1
