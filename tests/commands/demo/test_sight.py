"""What is seen of the two graphs, and the classes of nodes that message passing sees."""

import numpy as np
from hypothesis import given
from named_graphs import theta
from strategies import graphs

from cyclenet.commands.demo.sight import colour_refinement, save_picture, see


def test_the_two_graphs_agree_where_they_must_and_differ_where_they_should():
    assert {line.what: tuple(line)[1:] for line in see().lines} == {
        "nodes, edges": ("16, 48", "16, 48", False),
        "message passing: nodes alike": ("16", "16", False),
        "Betti number": ("33", "33", False),
        "projector: diagonal": ("0.6875", "0.6875", False),
        "projector: zeros per column": ("22", "16", True),
        "projector: column sum of |P|": ("2.625", "2.75", True),
        "shortest basis: lengths": ("24 x 3 + 9 x 4", "31 x 3 + 2 x 4", True),
        "relevant cycles": ("68", "44", True),
    }


def test_the_picture_is_small_and_the_same_every_time(tmp_path):
    first, again = tmp_path / "first.svg", tmp_path / "again.svg"
    save_picture(see(), first)
    save_picture(see(), again)
    content = first.read_bytes()
    assert content == again.read_bytes()
    assert len(content) < 150_000
    assert b"24 triangles" in content
    assert b"31 triangles" in content


def test_the_two_ends_of_the_shared_edge_of_theta_are_alike():
    colours = colour_refinement(*theta())
    assert colours[0] == colours[1] != colours[2] == colours[3]


@given(graphs(max_nodes=9))
def test_nodes_of_one_colour_see_the_same_colours(graph):
    edges, num_nodes = graph
    colours = colour_refinement(edges, num_nodes)
    adjacency = np.zeros((num_nodes, num_nodes), dtype=np.int64)
    adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1
    seen = adjacency @ np.eye(colours.max(initial=-1) + 1, dtype=np.int64)[colours]
    for colour in set(colours.tolist()):
        assert len(np.unique(seen[colours == colour], axis=0)) == 1


@given(graphs(max_nodes=9, min_nodes=1))
def test_the_classes_do_not_depend_on_node_names(graph):
    edges, num_nodes = graph
    names = np.random.default_rng(num_nodes).permutation(num_nodes)
    np.testing.assert_array_equal(
        colour_refinement(names[edges], num_nodes)[names], colour_refinement(edges, num_nodes)
    )
