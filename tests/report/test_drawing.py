"""Pictures of cycles: the same bytes every time, and words for those who cannot see them."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from named_graphs import grid, theta
from strategies import examples, graphs

from cyclenet.datasets import cfi_graph, molecule_graphs, rook_graph
from cyclenet.datasets.smiles import read_molecule
from cyclenet.report.drawing import (
    PALETTE,
    CyclePicture,
    _colours,
    _gallery_rows,
    _walk,
    draw_cycles,
    save_svg,
    svg_in_page,
    svg_of,
)
from cyclenet.topology import shortest_cycle_basis


def picture(graph, **options):
    edges, num_nodes = graph
    cycles = shortest_cycle_basis(edges, num_nodes).cycles
    return CyclePicture("a graph", edges, num_nodes, cycles, **options)


def svg(*graphs):
    figure = draw_cycles([picture(graph) for graph in graphs], title="both")
    return svg_of(figure, title="a < b", description="x & y")


@pytest.mark.parametrize("graph", [molecule_graphs()[3], rook_graph(), cfi_graph(2)])
def test_the_same_graph_gives_the_same_bytes(graph):
    assert svg(graph) == svg(graph)


def test_the_picture_has_a_title_and_a_description_that_are_escaped():
    root = ElementTree.fromstring(svg(theta()))
    assert root.get("role") == "img"
    assert root[0].tag.endswith("title")
    assert root[0].text == "a < b"
    assert root[1].text == "x & y"


def test_every_cycle_shows_its_colour():
    drawn = svg(molecule_graphs()[17])
    count = len(picture(molecule_graphs()[17]).cycles)
    assert count == 6
    assert sum(colour.lower() in drawn for colour in PALETTE) == count


def test_text_stays_text_and_no_date_is_kept():
    drawn = svg(rook_graph())
    assert ">24 triangles<" in drawn
    assert ">9 squares<" in drawn
    assert "<dc:date>" not in drawn


def test_many_cycles_stay_a_small_file():
    assert len(svg(rook_graph())) < 60_000
    assert ", the first 64 shown" in svg(cfi_graph(4))


@given(graphs(max_nodes=8))
@examples(20, 500)
def test_any_graph_can_be_drawn(graph):
    ElementTree.fromstring(svg(graph))


@given(graphs(max_nodes=10))
def test_a_walk_meets_each_node_of_its_cycle_once(graph):
    edges, num_nodes = graph
    for cycle in shortest_cycle_basis(edges, num_nodes).cycles:
        walk = _walk(edges[:, cycle])
        steps = {tuple(sorted(pair)) for pair in zip(walk, [*walk[1:], walk[0]], strict=True)}
        assert len(walk) == len(set(walk)) == len(cycle)
        assert steps == set(map(tuple, edges[:, cycle].T.tolist()))


def test_neighbouring_cycles_of_a_grid_differ_in_colour():
    edges, num_nodes = grid(5, 9)
    cycles = shortest_cycle_basis(edges, num_nodes).cycles
    colours = _colours(cycles, edges.shape[1])
    assert set(colours) == set(PALETTE)
    for i, one in enumerate(cycles):
        for j, other in enumerate(cycles[:i]):
            if np.intersect1d(one, other).size:
                assert colours[i] != colours[j]


def test_small_pictures_stand_in_rows_by_length():
    cycles = [np.arange(3)] * 9 + [np.arange(4)] + [np.arange(7)] * 2
    rows = _gallery_rows(cycles)
    assert [row.heading for row in rows] == ["9 triangles", "", "1 square", "2 cycles of length 7"]
    assert [len(row.cycles) for row in rows] == [8, 1, 1, 2]
    assert all(b.middle > a.middle for a, b in pairwise(rows))


def test_given_places_are_used(tmp_path):
    path = tmp_path / "a.svg"
    square = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], dtype=float)
    for places in (square, square[::-1].copy()):
        figure = draw_cycles([picture(theta(), positions=places)])
        save_svg(path, figure, title="t", description="d")
    assert re.search(r"<svg role=\"img\"", path.read_text())


def test_names_in_a_page_are_given_once_and_lead_somewhere():
    figures = [draw_cycles([picture(graph)], titled=False) for graph in (theta(), rook_graph())]
    pictures = [
        svg_in_page(figure, title=f"number {i}", description="d")
        for i, figure in enumerate(figures)
    ]
    names = re.findall(r' id="([^"]*)"', "".join(pictures))
    assert len(names) == len(set(names)) > 0
    assert set(re.findall(r'href="#([^"]*)"', "".join(pictures))) <= set(names)
    for one in pictures:
        ElementTree.fromstring(one)
        assert not any(colour.lower() in one for colour in PALETTE)
        assert "var(--c0)" in one


def test_a_molecule_shows_letters_and_double_bonds():
    pytest.importorskip("rdkit")
    caffeine = read_molecule("CN1C=NC2=C1C(=O)N(C(=O)N2C)C")
    graph, symbols, orders, positions = caffeine
    formula = picture(graph, positions=positions, symbols=symbols, orders=orders.tolist())
    bare = picture(graph, positions=positions, symbols=symbols)
    drawn, without = (
        svg_of(draw_cycles([one]), title="t", description="d") for one in (formula, bare)
    )
    letters = re.findall(r">([A-Z]\w*)</text>", drawn)
    assert sorted(letters) == ["N"] * 4 + ["O"] * 2
    assert drawn.count("<path") == without.count("<path") + 4  # double bonds


def test_small_pictures_can_be_left_out():
    with_each, without = (
        svg_of(draw_cycles([picture(rook_graph())], each=each), title="t", description="d")
        for each in (True, False)
    )
    assert "24 triangles" in with_each
    assert "24 triangles" not in without
