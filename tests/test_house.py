"""The rules of the house that no linter checks, and a wheel that works away from the checkout."""

import ast
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

import cyclenet

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cyclenet"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCE_FILES = sorted(SOURCE.rglob("*.py"))

# Each of these breaks an installation somewhere, or is far larger than what we would use of it.
BANNED = {
    "torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "pyg-lib", "topomodelx",
    "litdata", "torchvision", "hydra-core", "omegaconf", "pydantic", "pandas", "plotly",
}  # fmt: skip

# Public rooms: their `__all__` is the interface, and every name in it is documented.
INNER = ("topology", "data", "transforms", "nn", "nn.backbones", "nn.encoders", "nn.layers")
ROOMS = ["cyclenet", *(f"cyclenet.{room}" for room in INNER)]

MAX_CODE_LINES = 80
MAX_FILE_BYTES = 200_000


def normalised(requirement: str) -> str:
    """The name of a requirement as pip compares it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=!~;]", requirement, maxsplit=1)[0]).lower()


def requirements() -> dict[str, list[str]]:
    """All requirements of pyproject.toml: the core and every extra."""
    project = PYPROJECT["project"]
    return {"core": project["dependencies"], **project["optional-dependencies"]}


def pins() -> dict[str, str]:
    """The lines of constraints.txt that are not comments, by normalised name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {normalised(line): line for line in lines if line and not line.startswith("#")}


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef, text: list[str]) -> int:
    """Lines of a function without its docstring, blank lines and comments."""
    assert function.end_lineno is not None
    first = function.body[0]
    skipped: set[int] = set()
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        assert first.end_lineno is not None
        skipped = set(range(first.lineno, first.end_lineno + 1))
    return sum(
        bool(text[number - 1].strip()) and not text[number - 1].lstrip().startswith("#")
        for number in range(function.lineno, function.end_lineno + 1)
        if number not in skipped
    )


@pytest.mark.parametrize("extra", requirements())
def test_no_banned_dependency(extra):
    assert not BANNED & {normalised(line) for line in requirements()[extra]}


@pytest.mark.parametrize("extra", requirements())
def test_pyproject_states_lower_bounds_only(extra):
    for line in requirements()[extra]:
        if normalised(line) != "cyclenet":
            assert re.fullmatch(r"[\w.-]+(\[\w+\])?>=[\d.]+", line), line


def test_constraints_are_exact_and_from_nowhere_in_particular():
    for line in pins().values():
        assert re.fullmatch(r"[\w.-]+==[\w.]+", line), line


@pytest.mark.parametrize("extra", ["core", "bench", "docs", "dev"])
def test_every_dependency_that_make_installs_is_pinned(extra):
    assert {normalised(line) for line in requirements()[extra]} <= pins().keys() | {"cyclenet"}


def test_the_version_is_the_same_everywhere():
    version = PYPROJECT["project"]["version"]
    assert cyclenet.__version__ == version
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_a_docstring(room):
    module = importlib.import_module(room)
    assert module.__doc__
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) or isinstance(thing, type(sys)):
            assert (thing.__doc__ or "").strip(), f"{room}.{name} has no docstring"


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_listed_once(room):
    names = importlib.import_module(room).__all__
    assert len(names) == len(set(names))


def test_topology_imports_arrays_and_nothing_else():
    ours = {"numpy", "scipy", "numba", "jaxtyping", "cyclenet.topology"}
    allowed = ours | sys.stdlib_module_names
    for path in (SOURCE / "topology").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [node.module or ""]
            else:
                continue
            for name in imported:
                head = ".".join(name.split(".")[: 2 if name.startswith("cyclenet") else 1])
                assert head in allowed, f"{path.name} imports {name}"


def test_no_module_is_named_after_nothing():
    inside = [path.relative_to(SOURCE).with_suffix("") for path in SOURCE_FILES]
    names = {part for path in inside for part in path.parts}
    assert not names & {"utils", "util", "common", "helpers", "helper", "misc"}


@pytest.mark.parametrize("path", sorted(SOURCE.glob("topology/*.py")), ids=lambda path: path.stem)
def test_every_file_of_topology_has_its_test_file(path):
    if path.stem != "__init__":
        assert (ROOT / "tests" / "topology" / f"test_{path.stem.lstrip('_')}.py").exists()


@pytest.mark.parametrize("path", SOURCE_FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_are_short_enough_to_read(path):
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = code_lines(node, text.splitlines())
            assert length <= MAX_CODE_LINES, f"{node.name} has {length} lines of code"


@pytest.mark.parametrize("path", SOURCE_FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_annotations_are_evaluated_so_that_shapes_are_checked(path):
    assert "from __future__ import annotations" not in path.read_text(encoding="utf-8")


def test_no_file_in_git_is_large():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, timeout=60,
    ).stdout.decode().split("\0")  # fmt: skip
    files = [ROOT / name for name in listed if name and (ROOT / name).is_file()]
    assert not [path for path in files if path.stat().st_size > MAX_FILE_BYTES]


def test_every_module_imports():
    for module in pkgutil.walk_packages(cyclenet.__path__, "cyclenet."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


# What a plain installation lacks. networkx is not among it: torch brings it.
OPTIONAL = ["gudhi", "skimage", "rdkit", "dask", "distributed", "pyarrow", "tensorboard", "igraph"]

WITHOUT = """
import sys
for name in sys.argv[1].split():
    sys.modules[name] = None
import importlib, pkgutil, warnings
warnings.simplefilter("ignore")
import cyclenet
from cyclenet.cli import main
for module in pkgutil.walk_packages(cyclenet.__path__, "cyclenet."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert main(["inspect", "rook", "--svg", "rook.svg"]) == 0
assert main(["inspect", "molecules:0"]) == main(["doctor"]) == 0
assert main(["demo", "--seconds", "1"]) == 0
"""


def test_nothing_optional_is_needed(tmp_path):
    command = [sys.executable, "-c", WITHOUT, " ".join(OPTIONAL)]
    subprocess.run(command, check=True, capture_output=True, timeout=300, cwd=tmp_path)
    assert (tmp_path / "rook.svg").exists()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from the checkout with the builder that is installed."""
    if importlib.util.find_spec("build") is None or importlib.util.find_spec("hatchling") is None:
        pytest.skip("needs build and hatchling; try: make wheel")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_carries_every_file_of_the_package(wheel):
    shipped = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        path.relative_to(ROOT / "src").as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "cyclenet/py.typed" in shipped
    assert ours <= shipped
    assert any(name.endswith("LICENSE") for name in shipped)
    assert not [name for name in shipped if not re.match(r"cyclenet(/|-[\d.]+\.dist-info/)", name)]


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(wheel, tmp_path):
    """Dependencies are borrowed from the running environment: they are gigabytes."""
    environment = tmp_path / "venv"
    quiet = {"check": True, "capture_output": True, "text": True, "timeout": 300, "cwd": tmp_path}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], **quiet)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", wheel], **quiet)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([python, "-c", ask], **quiet).stdout.strip())
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    # A folder named in a .pth file is searched, but no .pth file inside it is read, ours neither.
    (site / "borrowed.pth").write_text("\n".join(sorted(borrowed)), encoding="utf-8")

    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    show = "import cyclenet, cyclenet.topology; print(cyclenet.__file__, cyclenet.__version__)"
    shown = subprocess.run([python, "-c", show], env=clean, **quiet).stdout.split()
    assert Path(shown[0]).is_relative_to(environment)
    assert shown[1] == PYPROJECT["project"]["version"]
    helped = subprocess.run([scripts / "cyclenet", "--help"], env=clean, **quiet).stdout
    assert "demo" in helped
