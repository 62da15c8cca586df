"""Virtual environments for tests that need packages from PyPI, kept in $BANDFERRY_CACHE (default ~/.cache/bandferry)."""

import os
import pathlib
import shutil
import subprocess
import sys


def interpreter(name, *installs) -> pathlib.Path:
    """Of the environment with this name; made anew when it is not there, or was made with other packages.

    Each of `installs` is what one `pip install` is given.
    """
    cache = pathlib.Path(os.environ.get("BANDFERRY_CACHE") or pathlib.Path.home() / ".cache" / "bandferry")
    home = cache / f"{name}-venv"
    program = home / "bin" / "python"
    ready = home / ".ready"
    if not ready.exists() or ready.read_text() != repr(installs):
        cache.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        for packages in installs:
            subprocess.run([str(program), "-m", "pip", "install", "--quiet", *packages], check=True)
        ready.write_text(repr(installs))
    return program
