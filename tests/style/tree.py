# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files belong to the project: tracked ones and new ones that git does not ignore."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CXX = (".cpp", ".hpp")


def files():
    """Paths relative to the root, sorted. Works on a checkout of another user and on an unpacked archive."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode == 0:
        names = {n for n in listed.stdout.decode().split("\0") if n}
    else:
        names = {os.path.relpath(os.path.join(folder, f), ROOT) for folder, _, found in os.walk(ROOT) for f in found}
        names = {n for n in names if not n.startswith(("build/", ".git/"))}
    return sorted(n for n in names if os.path.isfile(os.path.join(ROOT, n)))


def cxx_files():
    return [n for n in files() if n.endswith(CXX)]
