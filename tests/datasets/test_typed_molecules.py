"""Molecules packed in arrays and in files, and everything that must not pass for one."""

import json

import numpy as np
import pytest
import safetensors.numpy
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs

from cyclenet.datasets import DataFileError, Graph, TypedMolecule, TypedMolecules
from cyclenet.datasets.typed_molecules import (
    ATOM_TYPES,
    BOND_TYPES,
    MOST_ATOMS,
    OtherFormat,
    joined,
    molecules_from_bytes,
    molecules_to_bytes,
    pack_molecules,
    read_molecules,
)


def molecule_on(edges, num_nodes, rng):
    """A molecule on a graph, its types drawn; its arcs come from a matrix, as in the raw files."""
    matrix = np.zeros((num_nodes, num_nodes), dtype=np.int8)
    bonds = rng.integers(1, len(BOND_TYPES), edges.shape[1])
    matrix[edges[0], edges[1]] = matrix[edges[1], edges[0]] = bonds
    arcs = np.stack(np.nonzero(matrix))
    atoms = rng.integers(0, len(ATOM_TYPES), num_nodes)
    return TypedMolecule(atoms, arcs, matrix[arcs[0], arcs[1]])


def packed(molecules):
    return pack_molecules(molecules, np.arange(len(molecules), dtype=np.float32) / 7)


def assert_same(first, second):
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, second.arrays()[name])


# A bond, nothing, one atom, and a triangle.
FOUR = packed(
    [
        TypedMolecule(np.array([0, 1]), np.array([[0, 1], [1, 0]]), np.array([3, 3])),
        TypedMolecule(np.zeros(0, np.int8), np.zeros((2, 0), np.int8), np.zeros(0, np.int8)),
        TypedMolecule(np.array([27]), np.zeros((2, 0), np.int8), np.zeros(0, np.int8)),
        TypedMolecule(
            np.array([0, 0, 2]),
            np.array([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]),
            np.array([1, 2, 1, 1, 2, 1]),
        ),
    ]
)


def test_there_are_28_atoms_and_3_bonds_besides_none():
    assert len(set(ATOM_TYPES)) == 28
    assert ATOM_TYPES[4] == "C H1"
    assert BOND_TYPES == ("none", "single", "double", "triple")


@given(st.lists(graphs(max_nodes=8, edge_order="sorted"), max_size=4), st.integers(0, 99))
@examples(quick=50, deep=1000)
def test_packing_and_a_file_give_the_molecules_back(drawn, seed):
    rng = np.random.default_rng(seed)
    molecules = [molecule_on(*graph, rng) for graph in drawn]
    whole = packed(molecules)
    again, about = molecules_from_bytes(molecules_to_bytes(whole, {"from": "here"}))
    assert_same(again, whole)
    assert about == {"from": "here"}
    for molecule, one, graph, edges in zip(molecules, again, drawn, again.graphs(), strict=True):
        for before, after in zip(molecule, one, strict=True):
            np.testing.assert_array_equal(before, after)
        assert Graph(edges.edges.tolist(), edges.num_nodes) == (graph[0].tolist(), graph[1])


def test_a_triangle_by_hand():
    assert [len(molecule.atoms) for molecule in FOUR] == [2, 0, 1, 3]
    assert FOUR[-1].arcs.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
    assert FOUR.graphs()[3].edges.tolist() == [[0, 0, 1], [1, 2, 2]]
    with pytest.raises(IndexError):
        FOUR[4]


def test_joining_is_packing_all():
    assert_same(joined([packed(list(FOUR)[:2]), packed(list(FOUR)[2:])]), _with_targets(FOUR))
    assert_same(joined([FOUR]), FOUR)


def _with_targets(molecules):
    arrays = molecules.arrays() | {"y": np.array([0, 1, 0, 1], dtype=np.float32) / 7}
    return TypedMolecules(**arrays)


def test_the_same_molecules_are_the_same_bytes():
    words = {"one": "1", "two": "2", "three": "3"}
    assert len({molecules_to_bytes(FOUR, words) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    ("name", "place", "value", "says"),
    [
        ("x", 0, 28, "atoms from 0 to 27, but 28 came in molecule 0"),
        ("x", 2, -1, "atoms from 0 to 27, but -1 came in molecule 2"),
        ("edge_attr", 3, 0, "bonds from 1 to 3, but 0 came in molecule 3"),
        ("edge_attr", 3, 4, "bonds from 1 to 3, but 4 came in molecule 3"),
        ("edge_attr", 3, 1, "both directions of each bond, of one type"),
        ("edge_index", (0, 7), 3, "atoms of the molecule in arcs, but 3 came in molecule 3"),
        ("edge_index", (1, 0), -1, "atoms of the molecule in arcs, but -1 came in molecule 0"),
        ("edge_index", (1, 0), 0, "no loops, but 0 came in molecule 0"),
        ("edge_index", (1, 3), 1, "each arc once, sorted by tail and head"),
        ("y", 1, np.nan, "finite targets, but nan came in molecule 1"),
        ("node_ptr", 1, 4, "node_ptr to hold 5 numbers that never fall, from 0 to 6"),
        ("node_ptr", 0, 1, "node_ptr"),
        ("edge_ptr", 4, 7, "edge_ptr to hold 5 numbers that never fall, from 0 to 8"),
        ("edge_ptr", 3, 3, "atoms of the molecule in arcs"),
    ],
)
def test_a_wrong_number_is_named_with_its_molecule(name, place, value, says):
    arrays = {key: array.copy() for key, array in FOUR.arrays().items()}
    arrays[name][place] = value
    with refused(ValueError, says):
        TypedMolecules(**arrays)


def test_an_arc_without_the_other_direction_is_refused():
    one_way = TypedMolecule(np.array([0, 0]), np.array([[0], [1]]), np.array([1]))
    with refused(ValueError, "both directions"):
        packed([one_way])


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("x", lambda array: array.astype(np.int64), "x of type int8 with 1 axes, but type int64"),
        ("y", lambda array: array.reshape(-1, 1), r"y of type float32 .* \(4, 1\)"),
        ("edge_index", lambda array: array[:, :-1], r"edge_index of shape \(2, 8\)"),
        ("node_ptr", lambda array: array[:-1], "node_ptr to hold 5 numbers"),
        ("edge_ptr", lambda array: array[:0], "edge_ptr .* but none came"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(name, change, says):
    with refused(ValueError, says):
        TypedMolecules(**FOUR.arrays() | {name: change(FOUR.arrays()[name])})


def test_numbers_do_not_wrap_around_on_the_way_into_a_byte():
    with refused(ValueError, "atoms from 0 to 127 at most, but 256 came"):
        packed([TypedMolecule(np.array([256]), np.zeros((2, 0), int), np.zeros(0, int))])
    with refused(ValueError, "at most, but -256 came"):
        packed([TypedMolecule(np.array([-256]), np.zeros((2, 0), int), np.zeros(0, int))])
    many = TypedMolecule(np.zeros(MOST_ATOMS + 1, int), np.zeros((2, 0), int), np.zeros(0, int))
    with refused(ValueError, "at most 32767 atoms, but 32768 came"):
        packed([many])


def test_no_flipped_bit_and_no_truncation_passes_for_the_file():
    content = molecules_to_bytes(FOUR, {"from": "here"})
    rng = np.random.default_rng(0)
    for _ in range(400):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= 1 << rng.integers(8)
        if rng.random() < 0.25:
            del changed[rng.integers(len(content)) :]
        try:
            again, about = molecules_from_bytes(bytes(changed), path="here")
        except DataFileError as error:
            assert error.path == "here"
            continue
        # A blank of the header, say: nothing that was read has changed.
        assert_same(again, FOUR)
        assert about == {"from": "here"}


def test_random_bytes_are_refused():
    rng = np.random.default_rng(0)
    for size in rng.integers(0, 200, 200):
        with pytest.raises(DataFileError):
            molecules_from_bytes(rng.bytes(size))
    for claimed in (0, 1, 2**20 + 1, 2**63):
        with pytest.raises(DataFileError, match="safetensors header"):
            molecules_from_bytes(
                claimed.to_bytes(8, "little") + bytes(2**20 + 2 if claimed > 2 else 0)
            )


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"format": 1, "about": 3, "sha256": ""}'])
def test_another_safetensors_file_is_refused(note):
    content = safetensors.numpy.save(FOUR.arrays(), metadata={"cyclenet": note})
    with pytest.raises(DataFileError, match="no file of molecules"):
        molecules_from_bytes(content)
    with pytest.raises(DataFileError, match="no file of molecules"):
        molecules_from_bytes(safetensors.numpy.save(FOUR.arrays()))


def test_another_format_is_told_apart_from_damage():
    note = json.dumps({"format": 99, "about": {}, "sha256": ""})
    content = safetensors.numpy.save(FOUR.arrays(), metadata={"cyclenet": note})
    with pytest.raises(OtherFormat, match="format 1, but 99 came"):
        molecules_from_bytes(content)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataFileError, match="No such file") as caught:
        read_molecules(tmp_path / "none.safetensors", hint="do this")
    assert caught.value.hint == "do this"
