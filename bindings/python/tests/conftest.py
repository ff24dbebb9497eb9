"""What all tests share: a seed that is printed, and the command `lacuna`."""

import os
import random
import shutil
import subprocess

import numpy as np
import pytest

SEED = int(os.environ.get("LACUNA_SEED", "0") or "0") or random.SystemRandom().randrange(1, 2**32)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"seed {SEED}; run again with LACUNA_SEED={SEED}")


@pytest.fixture
def rng(request):
    """Random numbers of a test: the same for one seed and one test."""
    return np.random.default_rng([SEED, *request.node.name.encode()])


@pytest.fixture(scope="session")
def lacuna_command():
    """Runs the command that was built from the same checkout, and gives what it prints."""
    path = os.environ.get("LACUNA_COMMAND") or shutil.which("lacuna")
    if path is None:
        assert "LACUNA_REQUIRE" not in os.environ, "give the command `lacuna` in LACUNA_COMMAND"
        pytest.skip("LACUNA_COMMAND names no command `lacuna`")

    def run(*arguments, **options):
        return subprocess.run(
            [path, *map(str, arguments)], check=True, text=True, capture_output=True, **options
        ).stdout

    return run
