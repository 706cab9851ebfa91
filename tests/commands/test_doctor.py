"""`doctor` tells what is missing and what that switches off."""

import sys
from importlib.metadata import PackageNotFoundError, version

from cyclenet.commands import doctor
from cyclenet.topology import memory


def test_versions_are_those_installed():
    result = doctor.examine().result
    assert result["core"]["numpy"] == version("numpy")
    assert result["disk_free_bytes"] > 0
    assert result["numba_cache"]["kernels"] >= 0


def test_free_memory_is_what_refusals_go_by(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 123)
    assert doctor.examine().result["memory_free_bytes"] == 123


def test_without_numba_the_doctor_still_answers(monkeypatch):
    monkeypatch.setattr(doctor, "version", without("numba"))
    monkeypatch.setitem(sys.modules, "cyclenet.topology.memory", None)
    outcome = doctor.examine()
    assert outcome.exit_code == 5
    assert outcome.result["memory_free_bytes"] is None


def test_a_missing_extra_is_no_failure_but_told(monkeypatch):
    monkeypatch.setattr(doctor, "version", without("rdkit"))
    outcome = doctor.examine()
    assert outcome.exit_code == 0
    assert outcome.result["extras"]["rdkit"]["version"] is None
    assert any("missing" in line and "cyclenet[chem]" in line for line in outcome.lines)


def test_a_missing_core_package_is_status_5(monkeypatch):
    monkeypatch.setattr(doctor, "version", without("scipy"))
    outcome = doctor.examine()
    assert outcome.exit_code == 5
    assert outcome.warnings == ["the package scipy is missing; try: pip install scipy"]


def test_the_cache_of_kernels_is_where_numba_was_told(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "a.nbi").touch()
    cache = doctor.examine().result["numba_cache"]
    assert cache == {"folder": str(tmp_path), "writable": True, "kernels": 1}


def without(missing):
    """`importlib.metadata.version` in a world without one package."""

    def found(name):
        if name == missing:
            raise PackageNotFoundError(name)
        return version(name)

    return found
