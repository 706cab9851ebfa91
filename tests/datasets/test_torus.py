"""Points on tori, their complexes, and the distance of every edge from a hole."""

import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import oracles
import pytest
import torch
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from torch_geometric.data import Batch

from cyclenet.datasets import (
    TORUS_SETS,
    CloudOptions,
    DataFileError,
    MissingExtra,
    PointComplex,
    TorusPreset,
    UnknownName,
    torus_data,
    torus_set,
)
from cyclenet.datasets.sources import open_source
from cyclenet.datasets.torus import _shares
from cyclenet.datasets.torus_files import (
    cloud_file,
    kept_snapshots,
    snapshots_from_bytes,
    snapshots_to_bytes,
)
from cyclenet.datasets.torus_points import FAMILIES, torus_cloud
from cyclenet.datasets.torus_snapshots import (
    alpha_complex,
    chosen_times,
    edge_labels,
    snapshots_of_cloud,
)
from cyclenet.topology import shortest_homology_basis

SMALL = CloudOptions((10, 40), seed=7)
SMALL_3D = CloudOptions((30,), dim=3, seed=7)
TINY_SET = TorusPreset((4, 4, 4), SMALL)


def needs_gudhi():
    return pytest.importorskip("gudhi")


def same(one, other):
    """Whether two snapshots are the same, bit for bit."""
    arrays = zip(one.complex, other.complex, strict=True)
    return one[1:5] == other[1:5] and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in [*arrays, (one.labels, other.labels), (one.link_betti, other.link_betti)]
    )


def all_same(some, others):
    return len(some) == len(others) and all(map(same, some, others))


# Points


def test_a_torus_is_a_tube_around_a_circle():
    points = torus_cloud("torus", 4000, np.random.default_rng(0))
    away = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 2, points[:, 2])
    # The tube has radius 1 and points are off it by 0.2.
    assert abs(away.mean() - 1) < 0.05 and abs(away.std() - 0.2) < 0.02


def test_a_pinched_torus_is_thin_at_one_place():
    points = torus_cloud("pinched_torus", 4000, np.random.default_rng(0))
    angle = np.arctan2(points[:, 1], points[:, 0]) % (2 * np.pi)
    away = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 2, points[:, 2])
    np.testing.assert_allclose(away, np.sin(angle / 2) + 0.2, atol=1e-9)


@pytest.mark.parametrize("family", ["tori", "pinched_tori"])
def test_several_tori_lose_only_points_to_their_neighbours(family):
    for seed in range(5):
        points = torus_cloud(family, 50, np.random.default_rng(seed))
        count = np.random.default_rng(seed).integers(2, 11)
        assert 0 < points.shape[0] <= 50 * count
        # Radii are shares of distances in the unit square.
        assert (np.abs(points[:, :2] - 0.5) < 1.7).all()


def test_as_published_all_tori_have_one_radius_and_are_pinched():
    plain = [torus_cloud(f, 20, np.random.default_rng(1)) for f in ("tori", "pinched_tori")]
    slips = [
        torus_cloud(f, 20, np.random.default_rng(1), as_published=True)
        for f in ("tori", "pinched_tori")
    ]
    assert np.array_equal(*slips)
    assert not np.array_equal(*plain) and not np.array_equal(slips[1], plain[1])


def test_an_unknown_family_is_refused():
    with refused(ValueError, "'torus', 'tori'"):
        torus_cloud("sphere", 5, np.random.default_rng(0))


# Snapshots


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("options", [SMALL, SMALL_3D])
def test_a_snapshot_is_what_was_there_before_its_time(family, options):
    needs_gudhi()
    found = 0
    for cloud in range(4):
        for each in snapshots_of_cloud(options, family, cloud):
            found += 1
            tree = alpha_complex(each.complex.points)
            there = {tuple(s) for s, since in tree.get_filtration() if since < each.time}
            _, edges, triangles, tetrahedra = each.complex
            mine = [*edges.T.tolist(), *triangles.T.tolist(), *tetrahedra.T.tolist()]
            assert set(map(tuple, mine)) == {s for s in there if len(s) > 1}
            before = np.nextafter(each.time, 0)
            assert each.betti == tree.persistent_betti_numbers(before, before)[1]
            assert 1 <= each.betti <= 5
            assert each.complex.points.shape[1] == options.dim
            assert options.dim == 3 or not tetrahedra.size
    assert found


def test_node_i_is_point_i():
    needs_gudhi()
    points = torus_cloud("tori", 30, np.random.default_rng(0))[:, :2]
    complex = alpha_complex(points)
    for one, other in combinations(range(20), 2):
        if complex.find([one, other]):
            half = np.linalg.norm(points[one] - points[other]) / 2
            assert complex.filtration([one, other]) >= half**2 - 1e-12


class FakeTree:
    """Holes that live as told."""

    def __init__(self, lives):
        self.lives = np.array(lives, dtype=float).reshape(-1, 2)

    def persistence_intervals_in_dimension(self, dimension):
        return self.lives if dimension == 1 else np.zeros((0, 2))

    def persistent_betti_numbers(self, first, last):
        born, dies = self.lives.T
        return [1, int(np.sum((born <= first) & (dies > last)))]


@pytest.mark.parametrize(
    ("lives", "options", "times"),
    [
        # Before its death a hole is there, before its birth none is.
        ([(0.1, 0.5)], {}, [0.5]),
        # The longest life first; its birth is of interest because of another hole.
        ([(0.0, 0.2), (0.1, 0.5)], {}, [0.1, 0.5]),
        ([(0.0, 0.2), (0.1, 0.5), (0.6, 0.7)], {"per_cloud": 3}, [0.1, 0.2, 0.5]),
        # A pair is taken whole: one more than was asked for.
        ([(0.0, 0.2), (0.1, 0.5)], {"per_cloud": 1}, [0.1, 0.5]),
        # Holes that are too short-lived, too many, or never filled.
        ([(0.1, 0.1005)], {}, []),
        ([(0.1, 0.5)] * 6, {}, []),
        ([(0.1, 0.5)] * 6, {"betti": None, "per_cloud": 1}, [0.5]),
        ([(0.1, np.inf)], {}, []),
        # Moments without a hole are taken on request.
        ([(0.1, 0.5)], {"trivial": 1.0}, [0.1, 0.5]),
        ([], {}, []),
    ],
)
def test_snapshots_are_taken_at_births_and_deaths_of_long_lives(lives, options, times):
    chosen = chosen_times(FakeTree(lives), CloudOptions(**options), np.random.default_rng(0))
    assert chosen == times


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_points", ()),
        ("num_points", (2,)),
        ("per_cloud", 0),
        ("betti", (3, 2)),
        ("trivial", 1.5),
        ("seed", -1),
    ],
)
def test_options_that_make_no_sense_are_refused(name, value):
    with refused(ValueError, f"`{name}`"):
        CloudOptions(**{name: value})


# Labels


def complex_of(maximal, points):
    """A complex with all faces of some simplices."""
    found = [
        sorted({f for s in maximal for f in combinations(sorted(s), size)}) for size in (2, 3, 4)
    ]
    parts = [
        np.array(faces, dtype=np.int64).reshape(-1, size).T
        for size, faces in zip((2, 3, 4), found, strict=True)
    ]
    return PointComplex(np.asarray(points, dtype=float), *parts)


def labels_by_rounds(complex):
    """Labels of edges by sets of simplices, tetrahedra included."""
    points, edges, triangles, tetrahedra = complex
    basis = shortest_homology_basis(edges, triangles, len(points), complex.edge_lengths())
    nodes = [(v,) for v in range(len(points))]
    columns = [*edges.T.tolist(), *triangles.T.tolist(), *tetrahedra.T.tolist()]
    simplices = {frozenset(s) for s in [*nodes, *map(tuple, columns)]}
    distance = dict.fromkeys(simplices, np.inf)
    for cycle in basis.cycles:
        reached = oracles._closure(frozenset(edges[:, e].tolist()) for e in cycle)
        time, lowered = 0, True
        while lowered and reached:
            before = dict(distance)
            star = {s for s in simplices if any(r <= s for r in reached)}
            for some, at in ((reached, time), (star - reached, time + 1)):
                for s in some:
                    distance[s] = min(distance[s], at)
            time += 2
            reached = oracles._closure(star) - star
            lowered = distance != before
    largest = max((d for d in distance.values() if np.isfinite(d)), default=0)
    wanted = [distance[frozenset(pair)] for pair in edges.T.tolist()]
    return [1.0 if np.isinf(d) else d / largest if largest else 0.0 for d in wanted]


@st.composite
def complexes(draw):
    """Simplices on up to eight points in general position, of any dimension up to three."""
    sets = st.sets(st.integers(0, 7), min_size=2, max_size=4)
    maximal = draw(st.lists(sets, min_size=1, max_size=14))
    points = np.random.default_rng(draw(st.integers(0, 9))).uniform(size=(8, 3))
    return complex_of(maximal, points)


@given(complexes())
@examples(100, 3_000)
def test_labels_are_those_of_growing_stars_and_links(complex):
    np.testing.assert_allclose(edge_labels(complex)[0], labels_by_rounds(complex))


def test_the_largest_distance_may_be_that_of_a_tetrahedron_or_not():
    # A triangle that is not filled, and tetrahedra that lead away from it.
    ring = [(0, 1), (1, 2), (0, 2)]
    points = np.random.default_rng(0).uniform(size=(6, 3))
    away = complex_of([*ring, (2, 3, 4, 5)], points)
    labels, betti = edge_labels(away)
    # The three nodes far away are at 2, and the triangle on them too: nothing is at 3.
    edges = away.edges.T.tolist()
    assert betti == 1 and labels[edges.index([0, 1])] == 0
    assert labels[edges.index([2, 3])] == 0.5 and labels[edges.index([3, 4])] == 1


def test_labels_are_zero_on_a_generator_and_one_at_the_farthest_edge():
    around = [[np.cos(a), np.sin(a)] for a in np.arange(4) * np.pi / 2]
    complex = complex_of(
        [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5)], [*around, [2, 0], [3, 0]]
    )
    labels, betti = edge_labels(complex)
    assert betti == 1
    by_edge = dict(zip(map(tuple, complex.edges.T.tolist()), labels.tolist(), strict=True))
    assert [by_edge[e] for e in ((0, 1), (1, 2), (2, 3), (0, 3))] == [0.0] * 4
    assert by_edge[3, 4] == 1 / 4 and by_edge[4, 5] == 3 / 4


def test_without_a_hole_all_labels_are_one():
    labels, betti = edge_labels(complex_of([(0, 1, 2), (2, 3)], np.eye(4)))
    assert betti == 0 and labels.tolist() == [1.0] * 4


def test_what_cannot_be_reached_is_at_one():
    ring = [(0, 1), (1, 2), (0, 2), (3, 4)]
    complex = complex_of(ring, np.random.default_rng(0).uniform(size=(5, 2)))
    labels, _ = edge_labels(complex)
    assert labels.tolist() == [0.0, 0.0, 0.0, 1.0]


# Sets


def test_parts_are_dealt_out_evenly_to_the_families():
    assert _shares((280, 40, 80)) == [(70, 10, 20)] * 4
    assert np.sum(_shares((7, 0, 6)), axis=0).tolist() == [7, 0, 6]
    assert [sum(share) for share in _shares((7, 0, 6))] == [4, 3, 3, 3]


def test_the_paper_scale_is_400_and_the_toy_13():
    scale, toy = TORUS_SETS["paper_scale"], TORUS_SETS["toy"]
    assert scale.sizes == (280, 40, 80) and scale.clouds.betti == (1, 5)
    assert toy.sizes == (7, 0, 6)
    assert [name for name, each in TORUS_SETS.items() if each.clouds.as_published] == ["paper"]


def test_no_cloud_is_in_two_parts_and_families_are_equal():
    needs_gudhi()
    made = torus_set(TINY_SET, None)
    assert [len(part) for part in made] == [4, 4, 4]
    clouds = [{(each.family, each.cloud) for each in part} for part in made]
    assert all(not one & other for one, other in combinations(clouds, 2))
    for part in made:
        assert [each.family for each in part] == list(FAMILIES)


def test_toy_clouds_have_the_two_sizes_of_the_table():
    needs_gudhi()
    made = torus_set("toy", None)
    assert [len(part) for part in made] == [7, 0, 6]
    edges = [each.complex.edges.shape[1] for part in made for each in part]
    assert min(edges) < 200 and max(edges) > 1000
    for each in [*made.train, *made.test]:
        assert 0 <= each.betti <= 5
        lowest = 0.0 if each.betti else 1.0
        assert (each.labels.min(), each.labels.max() <= 1) == (lowest, True)


def test_the_same_seed_gives_the_same_set_and_another_one_another():
    needs_gudhi()
    first, again = torus_set(TINY_SET, None), torus_set(TINY_SET, None)
    assert all(all_same(*parts) for parts in zip(first, again, strict=True))
    other = torus_set(TorusPreset((1, 0, 0), replace(SMALL, seed=8)), None)
    assert not same(first.train[0], other.train[0])


def test_an_unknown_set_offers_the_nearest():
    with pytest.raises(UnknownName) as caught:
        torus_set("paper_scales")
    assert caught.value.nearest == "paper_scale"


def test_a_set_that_cannot_be_had_is_refused():
    needs_gudhi()
    never = CloudOptions((4,), betti=(5, 5))
    with refused(ValueError, "in a row have none"):
        torus_set(TorusPreset((1, 0, 0), never), None)


def test_without_gudhi_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gudhi", None)
    with pytest.raises(MissingExtra) as caught:
        torus_set("toy", None)
    assert caught.value.hint == "pip install 'cyclenet[complexes]'"
    with pytest.raises(MissingExtra):
        open_source("tori")


def test_the_toy_set_is_a_source():
    needs_gudhi()
    assert len(open_source("tori").graphs) == 13


# On the disk


def test_a_set_is_drawn_once(tmp_path, monkeypatch):
    needs_gudhi()
    first = torus_set(TINY_SET, tmp_path)
    monkeypatch.setitem(sys.modules, "gudhi", None)
    again = torus_set(TINY_SET, tmp_path)
    assert all(all_same(*parts) for parts in zip(first, again, strict=True))


def test_more_of_the_same_clouds_starts_from_what_is_there(tmp_path):
    needs_gudhi()
    torus_set(TINY_SET, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    torus_set(TorusPreset((8, 4, 4), SMALL), tmp_path)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    assert before.items() <= after.items()


def test_other_options_have_a_folder_of_their_own():
    places = {
        cloud_file(Path("data"), options, "tori", 0).parent
        for options in (SMALL, SMALL_3D, replace(SMALL, betti=None), replace(SMALL, seed=1))
    }
    assert len(places) == 4


def kept(tmp_path):
    """A cloud on the disk with some snapshots, its file, and the words kept with it."""
    for cloud in range(20):
        snapshots = kept_snapshots(SMALL, "torus", cloud, tmp_path)
        if snapshots:
            return snapshots, cloud, cloud_file(tmp_path, SMALL, "torus", cloud)
    raise AssertionError("no cloud has a snapshot")


def test_a_damaged_file_is_made_again_with_a_warning(tmp_path, caplog):
    needs_gudhi()
    snapshots, cloud, path = kept(tmp_path)
    whole = path.read_bytes()
    for content in (b"", b"nonsense", whole[:-1], whole[:-9] + b"\1" + whole[-8:]):
        path.write_bytes(content)
        with caplog.at_level(logging.WARNING):
            assert all_same(kept_snapshots(SMALL, "torus", cloud, tmp_path), snapshots)
        assert "made again" in caplog.text and path.name in caplog.text
        assert path.read_bytes() == whole
        caplog.clear()


def test_any_flipped_bit_is_found(tmp_path):
    needs_gudhi()
    snapshots, cloud, _ = kept(tmp_path)
    about = {"family": "torus", "cloud": cloud}
    whole = snapshots_to_bytes(snapshots, about)
    assert all_same(snapshots_from_bytes(whole, about), snapshots)
    rng = np.random.default_rng(0)
    for place in rng.integers(8 * len(whole), size=200).tolist():
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        try:
            found = snapshots_from_bytes(bytes(flipped), about)
        except DataFileError:
            continue
        # Padding and the spelling of the header say nothing.
        assert all_same(found, snapshots)


def test_a_file_about_something_else_is_refused():
    content = snapshots_to_bytes([], {"family": "torus", "cloud": 1})
    assert snapshots_from_bytes(content, {"family": "torus", "cloud": 1}) == []
    with refused(DataFileError, "expected"):
        snapshots_from_bytes(content, {"family": "torus", "cloud": 2})


def test_a_folder_that_cannot_be_written_to_costs_a_warning(tmp_path, caplog):
    needs_gudhi()
    (tmp_path / "tori").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        snapshots = kept_snapshots(SMALL, "torus", 0, tmp_path)
    assert all_same(snapshots, snapshots_of_cloud(SMALL, "torus", 0))
    assert "not kept" in caplog.text


SCRIPT = """
import sys
from cyclenet.datasets import CloudOptions, TorusPreset, torus_set

if __name__ == "__main__":
    preset = TorusPreset((4, 4, 4), CloudOptions((10, 40), seed=7))
    torus_set(preset, sys.argv[1], workers=int(sys.argv[2]), told=lambda *n: print(n, flush=True))
"""


@pytest.mark.slow
def test_several_processes_and_a_kill_change_nothing(tmp_path):
    needs_gudhi()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    killed = subprocess.Popen([sys.executable, script, tmp_path / "a", "1"], env=environment)
    while not list((tmp_path / "a").rglob("*.safetensors")):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    subprocess.run([sys.executable, script, tmp_path / "a", "2"], env=environment, check=True)
    expected = torus_set(TINY_SET, None)
    made = torus_set(TINY_SET, tmp_path / "a")
    assert all(all_same(*parts) for parts in zip(expected, made, strict=True))


# As graphs with faces


@pytest.mark.parametrize("options", [SMALL, SMALL_3D])
def test_a_snapshot_is_a_graph_with_faces_and_a_target_for_every_edge(options):
    needs_gudhi()
    several = torus_set(TorusPreset((4, 0, 0), options), None).train
    graphs = [torus_data(each) for each in several]
    for each, data in zip(several, graphs, strict=True):
        num_edges = each.complex.edges.shape[1]
        assert data.validate() and data.num_nodes == each.complex.num_nodes
        assert np.array_equal(data.edges.numpy(), each.complex.edges)
        assert data.y.shape == (num_edges, 1) and data.edge_features.shape == (num_edges, 3)
        assert np.array_equal(data.edge_features.numpy(), each.link_betti)
        assert int(data.num_faces) == each.complex.triangles.shape[1]
        if options.dim == 2:
            around = np.bincount(data.face_incidence[0], minlength=num_edges)
            assert np.array_equal(data.edge_features[:, 0].numpy(), around)
    batch = Batch.from_data_list(graphs)
    for one, other in zip(graphs, batch.to_data_list(), strict=True):
        for name in one.keys():
            assert torch.equal(one[name], other[name]), name
