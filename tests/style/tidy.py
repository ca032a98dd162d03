#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tidy.py --build FOLDER [--all] [FILE...]: clang-tidy on every compiled file that has changed since it was last clean.

A file is the same when its own text, that of every project header it includes, its compile command, every .clang-tidy and the
version of clang-tidy are; the digests of clean files are kept in FOLDER/tidy-clean.json. --all forgets them.

Most of the time goes into the headers that files share: those of one kind are looked at together, as one file that includes them.
What is not clean together, or does not compile together, is looked at again, alone.
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

TOGETHER = 150_000  # octets of source at most: more would leave one processor without work at the end
# The entry of a program; together, each gets a name of its own.
ENTRY = re.compile(r"^(?:extern \"C\" )?int (main|LLVMFuzzerTestOneInput)\(", re.M)
# The sources in a file of the build's own that compiles several of them as one.
TOGETHER_IN_BUILD = re.compile(r'^#include "(/[^"]+\.cpp)"', re.M)
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
        words = flags(command, path)
        folders = [w[2:] for w in words if w.startswith("-I")]
        sum_ = hashlib.sha256(base)
        sum_.update(" ".join(words).encode())
        for name in self.closure(path, [f for f in folders if f.startswith(tree.ROOT)]):
            sum_.update(name.encode() + b"\0" + self.text(name).encode("utf-8", "replace") + b"\0")
        return sum_.hexdigest()


def run_tidy(path, more):
    done = subprocess.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", path, *more], capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.strip()]
    said += [line for line in done.stderr.splitlines() if "error" in line.lower() and "generated" not in line]
    return done.returncode == 0, said


def flags(command, path):
    """What decides how clang-tidy reads the file: folders and definitions, and the warnings; no precompiled header of another compiler."""
    words, out = iter(shlex.split(command)), []
    for word in words:
        if word in ("-isystem", "-I"):
            out += [word, next(words)]
        elif word.startswith(("-I", "-D", "-std=", "-W")) and not word.startswith(("-DLLVMFuzzerTestOneInput=", "-Winvalid-pch")):
            out.append(word)
    return tuple(out)


def settings_of(path):
    """The folder whose .clang-tidy holds for the file."""
    folder = os.path.dirname(path)
    while not os.path.exists(os.path.join(folder, ".clang-tidy")) and folder != tree.ROOT:
        folder = os.path.dirname(folder)
    return folder


def names(text):
    """What a file seems to define in its own namespaces. Two files that define the same would not compile together."""
    found, namespace = set(), ""
    for line in text.splitlines():
        if line.startswith("namespace ") and line != "namespace {":
            namespace = line
        if not line[:1].isalpha() or line.startswith(("namespace ", "using ", "return ", "TEST", "extern ", "template ")):
            continue
        words = re.findall(r"(?:::)?~?\w+", re.sub(r"<[^()]*>", "", re.split(r"[({=;]", line)[0]))
        if len(words) > 1 and not words[-1].startswith("::"):
            found.add((namespace, words[-1]))
    return found


class Group:
    """Files that are looked at together."""

    def __init__(self):
        self.paths, self.size, self.names = [], 0, set()

    def takes(self, size, defined):
        return not self.paths or self.size + size <= TOGETHER and not self.names & defined

    def add(self, path, size, defined):
        self.paths.append(path)
        self.size += size
        self.names |= defined


def groups(paths, digests):
    """The largest first."""
    kinds = {}
    for path in sorted(paths):
        text = digests.text(path) or ""
        defined = names(text)
        kind = kinds.setdefault(settings_of(path), [])
        group = next((g for g in kind if g.takes(len(text), defined)), None)
        if group is None:
            kind.append(group := Group())
        group.add(path, len(text), defined)
    return [g.paths for g in sorted((g for kind in kinds.values() for g in kind), key=lambda g: g.size, reverse=True)]


def joint_flags(paths, commands):
    """Everything that any of the files is given; a macro has the value of the first."""
    joint, macros = [], set()
    for path in paths:
        words = iter(flags(commands[path], path))
        for word in words:
            pair = [word, next(words)] if word in ("-isystem", "-I") else [word]
            macro = word[2:].split("=")[0] if word.startswith("-D") else None
            if macro in macros or any(joint[i:i + len(pair)] == pair for i in range(len(joint))):
                continue
            if macro:
                macros.add(macro)
            joint += pair
    return joint


def write_together(paths, digests, build):
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    together = os.path.join(folder, hashlib.sha256("".join(paths).encode()).hexdigest()[:16] + ".cpp")
    with open(together, "w", encoding="utf-8") as handle:
        for i, path in enumerate(paths):
            entry = ENTRY.search(digests.text(path) or "")
            include = f'#include "{path}"  // NOLINT: a source, on purpose\n'
            handle.write(f"#define {entry[1]} entry_{i}\n{include}#undef {entry[1]}\n" if entry else include)
    return together


def tidy(paths, commands, digests, build):
    """-> [(path, is it clean, what was said)]"""
    # The file stands outside the tree's folders: the settings are those of the first.
    settings = subprocess.run(["clang-tidy", "--dump-config", paths[0], "--"], check=True, capture_output=True, text=True).stdout
    looked_at = write_together(paths, digests, build) if len(paths) > 1 else paths[0]
    clean, said = run_tidy(looked_at, ["--config=" + settings, "--", *joint_flags(paths, commands)])
    if clean or len(paths) == 1:
        return [(p, clean, said) for p in paths]
    # Alone what was named, and what is left together; in halves when no file was.
    named = [p for p in paths if any(line.startswith(p + ":") for line in said)]
    parts = [[p] for p in named] + [[p for p in paths if p not in named]] if named else [paths[:len(paths) // 2], paths[len(paths) // 2:]]
    return [result for part in parts if part for result in tidy(part, commands, digests, build)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", required=True)
    options.add_argument("--all", action="store_true")
    options.add_argument("files", nargs="*", help="only these")
    given = options.parse_args()

    digests = Digests()
    with open(os.path.join(given.build, "compile_commands.json"), encoding="utf-8") as handle:
        entries = json.load(handle)
    project = {os.path.join(tree.ROOT, n) for n in tree.cxx_files()}
    commands = {}
    for entry in entries:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        for source in [path] if path in project else TOGETHER_IN_BUILD.findall(digests.text(path) or ""):
            commands.setdefault(source, entry["command"])  # what is compiled several times is looked at as it is the first time
    left_out = sorted(p for p in project if p.endswith(".cpp") and p not in commands)
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
    current = {p: digests.digest(p, c, base) for p, c in commands.items()}
    only = {os.path.abspath(f) for f in given.files}
    changed = [p for p in current if clean.get(os.path.relpath(p, tree.ROOT)) != current[p] and (not only or p in only)]

    def remember():
        with open(stamps, "w", encoding="utf-8") as handle:
            json.dump({n: d for n, d in clean.items() if os.path.join(tree.ROOT, n) in current}, handle, indent=1, sort_keys=True)

    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(tidy, paths, commands, digests, given.build) for paths in groups(changed, digests)]
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
    for path in left_out:
        print(f"{os.path.relpath(path, tree.ROOT)}: no target compiles it")
    print(f"{len(commands)} files, {len(changed)} changed since they were clean, {wrong} not clean")
    return 1 if wrong or left_out or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
