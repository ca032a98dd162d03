#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tidy.py --build FOLDER [--all] [FILE...]: clang-tidy on every compiled file that has changed since it was last clean.

A file is the same when its own text, that of every project header it includes, its compile command, every .clang-tidy and the
version of clang-tidy are; the digests of clean files are kept in FOLDER/tidy-clean.json. --all forgets them.

Most of the time goes into the headers that neighbours share: the files of one folder that are compiled alike are looked at together,
as one that includes them all. What is not clean together, or does not compile together, is looked at file by file.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

import tree

TOGETHER = 10  # files at most
# A program of its own; its entry would be there twice.
ENTRY = re.compile(r"^(?:extern \"C\" )?int (?:main|LLVMFuzzerTestOneInput)\(", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


class Digests:
    """What a file and everything of the project that it includes look like."""

    def __init__(self):
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            try:
                with open(path, encoding="utf-8", errors="replace") as handle:
                    content = handle.read()
            except OSError:
                content = None
            self.texts[path] = content
        return self.texts[path]

    def closure(self, path, folders):
        """The file and the project headers that it reaches."""
        reached, waiting = set(), [path]
        while waiting:
            current = waiting.pop()
            if current in reached or self.text(current) is None:
                continue
            reached.add(current)
            for name in INCLUDE.findall(self.text(current)):
                waiting += [os.path.normpath(os.path.join(folder, name)) for folder in [os.path.dirname(current), *folders]]
        return sorted(reached)

    def digest(self, path, command, base):
        words = shlex.split(command)
        folders = [w[2:] for w in words if w.startswith("-I")]
        sum_ = hashlib.sha256(base)
        sum_.update(command.encode())
        for name in self.closure(path, [f for f in folders if f.startswith(tree.ROOT)]):
            sum_.update(name.encode() + b"\0" + self.text(name).encode("utf-8", "replace") + b"\0")
        return sum_.hexdigest()


def run_tidy(path, more):
    done = subprocess.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", path, *more], capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.strip()]
    said += [line for line in done.stderr.splitlines() if "error" in line.lower() and "generated" not in line]
    return done.returncode == 0, said


def flags(command, path):
    """How the file is compiled, without what names it or its object."""
    words, out = shlex.split(command), []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-o", "-c"):
            skip = True
        elif word != path and not os.path.basename(word) in ("c++", "g++", "clang++"):
            out.append(word)
    return tuple(out)


def tidy(paths, commands, build):
    """-> [(path, is it clean, what was said)]"""
    if len(paths) > 1:
        folder = os.path.join(build, "tidy")
        os.makedirs(folder, exist_ok=True)
        together = os.path.join(folder, hashlib.sha256("".join(paths).encode()).hexdigest()[:16] + ".cpp")
        with open(together, "w", encoding="utf-8") as handle:
            handle.writelines(f'#include "{p}"\n' for p in paths)
        # The file stands outside the tree's folders: the settings are those of the first.
        settings = subprocess.run(["clang-tidy", "--dump-config", paths[0], "--"], check=True, capture_output=True, text=True).stdout
        clean, _ = run_tidy(together, ["--config=" + settings, "--", *flags(commands[paths[0]], paths[0])])
        if clean:
            return [(p, True, []) for p in paths]
    return [(p, *run_tidy(p, ["-p", build])) for p in paths]


def groups(paths, commands, digests):
    """Neighbours that are compiled alike, some at a time."""
    alike = {}
    for path in sorted(paths):
        alone = path if ENTRY.search(digests.text(path) or "") else None
        alike.setdefault((os.path.dirname(path), flags(commands[path], path), alone), []).append(path)
    found = [paths[i:i + TOGETHER] for paths in alike.values() for i in range(0, len(paths), TOGETHER)]
    return sorted(found, key=lambda paths: sum(map(os.path.getsize, paths)), reverse=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", required=True)
    options.add_argument("--all", action="store_true")
    options.add_argument("files", nargs="*", help="only these")
    given = options.parse_args()

    with open(os.path.join(given.build, "compile_commands.json"), encoding="utf-8") as handle:
        commands = {os.path.normpath(os.path.join(e["directory"], e["file"])): e["command"] for e in json.load(handle)}
    project = {os.path.join(tree.ROOT, n) for n in tree.cxx_files()}
    commands = {p: c for p, c in commands.items() if p in project}
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    base = version
    for name in (n for n in tree.files() if os.path.basename(n) == ".clang-tidy"):
        with open(os.path.join(tree.ROOT, name), "rb") as handle:
            base += handle.read()

    stamps = os.path.join(given.build, "tidy-clean.json")
    clean = {}
    if not given.all and os.path.exists(stamps):
        with open(stamps, encoding="utf-8") as handle:
            clean = json.load(handle)
    digests = Digests()
    current = {p: digests.digest(p, c, base) for p, c in commands.items()}
    only = {os.path.abspath(f) for f in given.files}
    changed = [p for p in current if clean.get(os.path.relpath(p, tree.ROOT)) != current[p] and (not only or p in only)]

    def remember():
        with open(stamps, "w", encoding="utf-8") as handle:
            json.dump({n: d for n, d in clean.items() if os.path.join(tree.ROOT, n) in current}, handle, indent=1, sort_keys=True)

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(tidy, paths, commands, given.build) for paths in groups(changed, commands, digests)]
        for run in concurrent.futures.as_completed(runs):
            for path, is_clean, said in run.result():
                name = os.path.relpath(path, tree.ROOT)
                if is_clean:
                    clean[name] = current[path]
                else:
                    clean.pop(name, None)
                    wrong += 1
                    print("\n".join(said), flush=True)
            remember()  # a run that is stopped goes on from here
    print(f"{len(commands)} files, {len(changed)} changed since they were clean, {wrong} not clean")
    return 1 if wrong or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
