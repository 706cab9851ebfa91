"""Names without classes: those of the mappings that look the classes up, and no others."""

import subprocess
import sys

from cyclenet.experiments import names
from cyclenet.experiments.baselines import BASELINES
from cyclenet.experiments.claims import CLAIMS
from cyclenet.experiments.tasks import TASKS
from cyclenet.nn.backbones import BACKBONES
from cyclenet.nn.encoders import ENCODERS


def test_names_are_the_keys_of_the_mappings():
    assert tuple(BACKBONES) == names.BACKBONE_NAMES
    assert tuple(ENCODERS) == names.ENCODER_NAMES
    assert tuple(BASELINES) == names.BASELINE_NAMES
    assert tuple(TASKS) == names.TASK_NAMES
    assert tuple(CLAIMS) == names.CLAIM_NAMES


def test_a_task_is_trained_or_told_apart():
    trained = [name for name, kind in TASKS.items() if kind.family is None]
    assert tuple(trained) == names.TRAINING_NAMES
    assert tuple(name for name in TASKS if name not in trained) == names.SEPARATION_NAMES
    for kind in TASKS.values():  # graphs are drawn, read, or told apart
        assert sum(way is not None for way in (kind.splits, kind.stored, kind.family)) == 1


def test_names_need_no_torch():
    code = "import sys, cyclenet.experiments.names; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
