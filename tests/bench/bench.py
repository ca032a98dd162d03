#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench.py [--build FOLDER] [--frames N] [--runs N] [-j N] [--capture FILE]: how fast, in ratios.

Makes large captures out of bundled ones (multiply), or takes the one named, and times on the same file, in turn:
the analyzer with one thread and with several, a bare libpcap loop (pcaploop), `capinfos -c` and `tshark -q -z io,stat,0`. Medians of several runs after one
that warms the page cache; rates and ratios are of processor time (user and system), which other work on the machine changes least, with one
thread. What several threads gain, and how much sooner they have done than a rival, are ratios of the clock's time: the least of the runs, and
they mean something only where nothing else runs. As many processes of one thread, beside each other, share nothing but the machine: what they
gain over one after the other is about what threads could gain there. Then the analyzer's peak memory at 1, 4 and 16 times the length. Numbers of
different machines or runs do not compare; the ratios of one run do.
"""
import argparse
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL = os.path.join(ROOT, "captures", "kernel")
SHORT = "siw-nfs41-basic.pcap"
KINDS = [("RoCEv2, one long connection", "long", "rxe-nfs3-big-rw.pcap"), ("RoCEv2, many connections", "many", "rxe-nfs3-big-rw.pcap"),
         ("RoCEv2, many small operations", "many", "rxe-nfs41-inline-c8192r-c16384w-s16384.pcap"),
         ("iWARP, many connections", "many", "siw-nfs41-big-rw.pcap"),
         ("iWARP, 90 % other traffic", "mixed", "siw-nfs41-big-rw.pcap")]
RIVALS = ("libpcap loop", "capinfos -c", "tshark io,stat")
ANALYZER_STATUSES = (0, 1)


def timed(command, statuses=(0,)):
    """-> (wall clock seconds, processor seconds)"""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.read()
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in statuses:
        raise SystemExit(f"{' '.join(command)}: exit status {child.returncode}\n{errors.decode(errors='replace')[-1000:]}")
    return seconds, usage.ru_utime + usage.ru_stime


def beside(command, copies, statuses):
    """As many processes that have nothing to do with each other -> clock seconds until the last one has done"""
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(copies) as pool:
        list(pool.map(timed, [command] * copies, [statuses] * copies))
    return time.perf_counter() - start


def peak(given, command, statuses):
    """-> peak resident KiB"""
    done = subprocess.run([os.path.join(given.build, "tests/bench/peak"), *command], stdin=subprocess.DEVNULL, check=True,
                          capture_output=True, text=True)
    kib, status = re.fullmatch(r"(\d+) KiB, \d+ ms of processor time, exit status (\d+)\n", done.stdout).groups()
    if int(status) not in statuses:
        raise SystemExit(f"{' '.join(command)}: exit status {status}\n{done.stderr[-1000:]}")
    return int(kib)


def multiply(given, mode, frames, source, path):
    done = subprocess.run([os.path.join(given.build, "tests/bench/multiply"), mode, str(frames), os.path.join(KERNEL, source), path],
                          check=True, capture_output=True, text=True)
    return int(done.stdout.split()[0])


def compare(given, title, path, frames, rivals=RIVALS):
    """-> processor seconds of the analyzer"""
    analyzer = [os.path.join(given.build, "rpcrdma-analyzer"), "--json", "--no-progress", path]
    several = f"analyzer -j {given.threads}"
    commands = {"analyzer": [*analyzer, "-j", "1"], several: [*analyzer, "-j", str(given.threads)],
                "libpcap loop": [os.path.join(given.build, "tests/bench/pcaploop"), path], "capinfos -c": ["capinfos", "-c", path],
                "tshark io,stat": ["tshark", "-n", "-q", "-r", path, "-z", "io,stat,0"]}
    results, least = {}, {}
    for name, command in commands.items():
        if not name.startswith("analyzer") and name not in rivals:
            continue
        statuses = ANALYZER_STATUSES if name.startswith("analyzer") else (0,)
        timed(command, statuses)
        runs = [timed(command, statuses) for _ in range(given.runs)]
        results[name] = tuple(statistics.median(r[i] for r in runs) for i in (0, 1))
        least[name] = min(r[0] for r in runs)
    ours = results["analyzer"][1]
    apart = min(beside(commands["analyzer"], given.threads, ANALYZER_STATUSES) for _ in range(given.runs))
    most = given.threads * least["analyzer"] / apart
    size = os.path.getsize(path)
    print(f"{title}: {frames} frames, {size / 1e6:.0f} MB, median of {given.runs}")
    for name, (wall, seconds) in results.items():
        if name == "analyzer":
            ratio = ""
        elif name == several:
            ratio = f"   {least['analyzer'] / least[name]:.2f} times as fast by the clock, of {most:.2f} that processes apart gain"
        elif seconds < ours:
            ratio = f"   analyzer / {name} = {ours / seconds:.2f}"
        else:
            ratio = f"   {name} / analyzer = {seconds / ours:.1f}, by the clock with {given.threads} threads {least[name] / least[several]:.1f}"
        print(f"  {name:15} {wall:8.3f} s, processor {seconds:8.3f} s  {frames / seconds / 1e6:6.2f} M frames/s  {seconds * 1e9 / frames:7.0f} ns/frame"
              f"{ratio}", flush=True)
    return ours


def memory(given, title, mode, source, path):
    peaks = []
    for times in (1, 4, 16):
        frames = multiply(given, mode, given.frames * times // 16, source, path)
        command = [os.path.join(given.build, "rpcrdma-analyzer"), "--json", "--no-progress", path]
        # Of several runs: in a short one it is chance how far ahead a second thread comes.
        peaks.append((frames, max(peak(given, command, ANALYZER_STATUSES) for _ in range(given.runs))))
    print(f"  peak memory, {title}: " + ", ".join(f"{kib / 1024:.1f} MiB at {frames} frames" for frames, kib in peaks)
          + f"; 16 times the length takes {peaks[-1][1] / peaks[0][1]:.2f} times the memory")


def short_connections(given, path):
    """What one connection that mounts, does little and unmounts costs does not grow with their number."""
    each, peaks = [], []
    length = int(subprocess.run([os.path.join(given.build, "tests/bench/pcaploop"), os.path.join(KERNEL, SHORT)], check=True,
                                capture_output=True, text=True).stdout.split()[0])
    for times in (1, 4):
        connections = given.connections * times
        frames = multiply(given, "many", length * connections, SHORT, path)
        # Longer captures are not timed against what takes minutes for them.
        rivals = RIVALS if times == 1 else RIVALS[:1]
        each.append(compare(given, f"iWARP, {connections} short connections of small operations", path, frames, rivals) / connections)
        kib = peak(given, [os.path.join(given.build, "rpcrdma-analyzer"), "--json", "--no-progress", path], ANALYZER_STATUSES)
        peaks.append(kib)
        print(f"  peak memory: {kib / 1024:.1f} MiB, {kib / connections:.2f} KiB a connection")
    print(f"  a connection among four times as many costs {each[1] / each[0]:.2f} times as much; each of the further ones takes "
          f"{(peaks[1] - peaks[0]) / (3 * given.connections):.2f} KiB with its findings")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=os.path.join(ROOT, "build"))
    options.add_argument("--frames", type=int, default=500_000)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("-j", dest="threads", type=int, default=os.cpu_count(), metavar="N", help="so many threads against one (all processors)")
    options.add_argument("--connections", type=int, default=10_000, help="how many short ones")
    options.add_argument("--capture", help="time this file instead of made ones")
    options.add_argument("--check", action="store_true", help="insist that a made capture is judged as its original: without warnings")
    given = options.parse_args()
    if given.capture:
        frames = int(subprocess.run([os.path.join(given.build, "tests/bench/pcaploop"), given.capture], check=True, capture_output=True,
                                    text=True).stdout.split()[0])
        compare(given, os.path.basename(given.capture), given.capture, frames)
        return 0
    if given.check:
        global ANALYZER_STATUSES
        ANALYZER_STATUSES = (0,)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.pcap")
        for title, mode, source in KINDS:
            frames = multiply(given, mode, given.frames, source, path)
            compare(given, title, path, frames)
            memory(given, title, mode, source, path)
        short_connections(given, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
