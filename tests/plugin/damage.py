#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""damage.py --plugin SO --preload RUNTIME [--variants N] [--seed N] [--folder F]... [--keep FOLDER]: tshark survives damaged captures.

Copies of recorded captures with octets changed, frames cut, lost, repeated and put in another order, through `tshark -V` with a plugin
that was built with AddressSanitizer; RUNTIME is the sanitizer's library, which has to be there before tshark's own. Each capture N
times, in one pass and in two by turns, so that two variants see both; of a large one a part, another each time. A variant that fails
is kept in FOLDER. What failed once stands in regressions/ and is read each time.
"""
import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import tshark  # noqa: E402

REGRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "regressions")
PART = 200_000  # octets of a large capture that one variant holds: many small variants find more than a few large ones


def listening(shark):
    """Everything of the plugin's that listens. None of the variants reads another's objects."""
    taps = ["rpcrdma,tree", "rpcrdma,connections", "rpcrdma,mounts", "conv,rpcrdma", "endpoints,rpcrdma", "flow,rpcrdma,network", "follow,rpcrdma,ascii,1"]
    return [w for t in taps for w in ("-z", t)] + ["--export-objects", f"rpcrdma,{os.path.join(shark.home, 'objects')}"]


def flipped(chance, header, records):
    out = []
    share = chance.choice([0.02, 0.2, 0.7])
    for record in records:
        octets = bytearray(record)
        if len(octets) > 60 and chance.random() < share:
            for _ in range(chance.randint(1, 6)):
                at = chance.randrange(16 + 34, len(octets))
                octets[at] = chance.choice([0, 1, 255, octets[at] ^ 1 << chance.randrange(8), chance.randrange(256)])
        out.append(bytes(octets))
    return header, out


def words(chance, header, records):
    """32-bit words become counts and lengths that are as large, or as small, as they can be."""
    out = []
    for record in records:
        octets = bytearray(record)
        if len(octets) > 90 and chance.random() < 0.2:
            at = 16 + 42 + 4 * chance.randrange((len(octets) - 16 - 42) // 4)
            octets[at:at + 4] = struct.pack(">I", chance.choice([0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC, chance.randrange(1 << 16)]))
        out.append(bytes(octets[:len(record)]))
    return header, out


def cut(chance, header, records):
    length = chance.choice([40, 60, 70, 90, 110, 140, 200, 400])
    return header, [pcapfile.snapped(header, r, length) if chance.random() < 0.5 else r for r in records]


def lost(chance, header, records):
    share = chance.choice([0.01, 0.1, 0.5])
    return header, [r for r in records if chance.random() >= share]


def moved(chance, header, records):
    out = list(records)
    for _ in range(max(1, len(out) // chance.choice([2, 10, 40]))):
        a, b = chance.randrange(len(out)), chance.randrange(len(out))
        if chance.random() < 0.7:
            b = min(len(out) - 1, a + chance.randint(1, 4))
        out[a], out[b] = out[b], out[a]
    return header, out


def repeated(chance, header, records):
    return header, [r for record in records for r in [record] * (2 if chance.random() < 0.2 else 1)]


def late(chance, header, records):
    return header, records[chance.randrange(len(records)):]


DAMAGES = [flipped, flipped, words, words, cut, lost, moved, repeated, late]


def part(chance, records):
    """All of a small capture; of a large one as many frames in a row as are looked at in one go."""
    if sum(map(len, records)) <= PART:
        return records
    first = chance.choice([0, chance.randrange(len(records))])
    out, octets = [], 0
    for record in records[first:] + records[:first]:
        octets += len(record)
        if octets > PART:
            break
        out.append(record)
    return out


def plain(path, folder):
    """The capture as a classic pcap file."""
    if path.endswith(".pcap"):
        return path
    copy = os.path.join(folder, harness.stem(path) + "-plain.pcap")
    if not os.path.exists(copy):
        subprocess.run(["editcap", "-F", "pcap", path, copy], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return copy


def variant(source, number, seed, folder):
    chance = random.Random(f"{seed} {number} {os.path.basename(source)}")
    header, records = pcapfile.read(plain(source, folder))
    records = part(chance, records)
    applied = chance.sample(DAMAGES, chance.choice([1, 1, 2, 3]))
    for damage in applied:
        header, records = damage(chance, header, records)
    path = os.path.join(folder, f"{harness.stem(source)}-{seed}-{number}.pcap")
    pcapfile.write(path, header, records)
    return path, [d.__name__ for d in applied]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plugin", required=True)
    options.add_argument("--preload", required=True)
    options.add_argument("--one-start", help="the library by which one start of tshark reads many captures")
    options.add_argument("--variants", type=int, default=1, help="of each capture")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--folder", action="append", default=[], help="other captures than the bundled ones")
    options.add_argument("--only", default="", help="one of them, by its file name")
    options.add_argument("--keep", default=".")
    given = options.parse_args()
    rooms = given.folder or [*harness.ROOMS, os.path.join(harness.ROOT, "captures", "v2")]
    sources = [os.path.join(f, n) for f in rooms for n in sorted(os.listdir(f)) if n.endswith((".pcap", ".pcapng"))]
    # Leaks at the end are tshark's own; memory that is used up by mistake is not.
    settings = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=86:allocator_may_return_null=0:max_allocation_size_mb=1024",
                "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=86", "G_SLICE": "always-malloc"}
    failed = 0
    with tshark.Tshark(given.plugin, given.preload, settings, given.one_start) as shark, tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        loaded = shark.run("-r", harness.capture("rxe-upeer-plain"), "-Y", "rpcordma.sender")
        if loaded.status or not loaded.output:
            print(f"the plugin is not loaded: {loaded.status} {loaded.errors[-600:]}")
            return 1

        def survive(source, number):
            path, applied = variant(sources[source], number, given.seed, folder)
            passes = ["-2"] if (source + number) % 2 else []
            problem = problem_of(path, passes)
            if problem:
                kept = shutil.copy(path, given.keep)
                problem += f" (kept as {kept})\n    " + alone.command("--plugin", given.plugin, "--preload", given.preload, "--seed", given.seed, "--variants",
                                                                    number + 1, "--only", os.path.basename(sources[source]))
            os.unlink(path)
            return problem and f"{os.path.basename(path)} {applied} {passes}: {problem}"

        def problem_of(path, passes):
            run = shark.run(*passes, "-V", "-r", path, *listening(shark))
            if run.status not in (0, 2) or "ERROR: AddressSanitizer" in run.errors or "runtime error" in run.errors:
                return f"status {run.status}: {run.errors[-1500:]}"
            if "rpcrdma:" in run.errors:
                return f"the plugin gives up: {run.errors[-300:]}"
            if "issector bug" in run.output and "rpcordma" in run.errors:
                return run.errors[-300:]
            return None

        for name in [n for n in sorted(os.listdir(REGRESSIONS)) if n.endswith(".pcap") and not given.only]:
            for passes in ([], ["-2"]):
                problem = problem_of(os.path.join(REGRESSIONS, name), passes)
                if problem:
                    failed += 1
                    print(f"WRONG regression {name} {passes}: {problem}")

        chosen = [n for n, path in enumerate(sources) if given.only in ("", os.path.basename(path))]
        for problem in filter(None, (survive(source, number) for source in chosen for number in range(given.variants))):
            failed += 1
            print(f"WRONG {problem}")
    print(f"{given.variants} damaged variants of each of {len(chosen)} captures, {failed} not survived")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
