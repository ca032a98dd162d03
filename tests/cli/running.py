#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""running.py --analyzer PATH: what reaches the program while it reads, and what it shows meanwhile: interrupts, a terminal."""
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "harness"))
import alone  # noqa: E402
import analyzer as harness  # noqa: E402
import pcapfile  # noqa: E402
import pcapngfile as ng  # noqa: E402

ANALYZER = None
HEALTHY = "rxe-nfs3-basic"


def wait_for(state):
    """Not longer than two minutes."""
    end = time.monotonic() + 120
    while not state():
        if time.monotonic() > end:
            raise AssertionError("what is waited for does not come")
        time.sleep(0.01)


def waiting_in(pipe):
    """Octets that were written and not read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)))[0]


def pending(process, number):
    """A signal that was sent to a process, which has not taken it yet."""
    with open(f"/proc/{process}/status", encoding="utf-8") as handle:
        masks = [int(line.split()[1], 16) for line in handle if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask & 1 << number - 1 for mask in masks)


class Interrupted(unittest.TestCase):
    def interrupted(self, octets, times):
        """-> exit status, standard output, standard error: the pipe stays open. Each signal comes when all was read and the one before is taken."""
        with subprocess.Popen([ANALYZER, "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(octets)
            process.stdin.flush()
            wait_for(lambda: waiting_in(process.stdin) == 0)
            for _ in range(times):
                process.send_signal(signal.SIGINT)
                wait_for(lambda: process.poll() is not None or not pending(process.pid, signal.SIGINT))
            output, errors = process.stdout.read(), process.stderr.read()
            return process.wait(timeout=300), output, errors

    def test_the_first_interrupt_ends_the_pipe(self):
        """The writer of it goes on; what was read is reported. The second ends the program."""
        header, records = pcapfile.read(harness.capture(HEALTHY))
        times = [struct.unpack("<II", record[:8]) for record in records]
        packets = [ng.packet(record[16:], seconds * 10 ** 6 + micros) for record, (seconds, micros) in zip(records, times)]
        for octets in (header + b"".join(records), ng.section() + ng.interface() + b"".join(packets)):
            status, output, errors = self.interrupted(octets, 1)
            self.assertEqual(status, 0, errors)
            self.assertEqual(harness.json.loads(output)["connections"], harness.run(ANALYZER, harness.capture(HEALTHY)).document["connections"])
            # On a busy machine the moment that the first one leaves may be over before the second comes.
            self.assertIn((-signal.SIGINT, b""), (self.interrupted(octets, 2)[:2] for _ in range(10)))


class Terminal(unittest.TestCase):
    """Progress goes to a terminal on standard error, and nowhere else."""

    def on_a_terminal(self, octets, *options, pause=0.9, **environment):
        master, slave = pty.openpty()
        process = subprocess.Popen([ANALYZER, *options, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave,
                                   env={**os.environ, "TERM": "xterm", **environment})
        os.close(slave)
        shown = []

        def listen():
            try:
                while part := os.read(master, 4096):
                    shown.append(part)
            except OSError:
                pass
        listener = threading.Thread(target=listen)
        listener.start()
        process.stdin.write(octets[:len(octets) // 2])
        process.stdin.flush()
        time.sleep(pause)
        process.stdin.write(octets[len(octets) // 2:])
        process.stdin.close()
        process.wait(timeout=300)
        listener.join(timeout=100)
        os.close(master)
        return b"".join(shown).decode()

    def long_capture(self):
        header, records = pcapfile.read(harness.capture(HEALTHY))
        return header + b"".join(records) * (200000 // len(b"".join(records)) * 20)

    def test_shown_after_a_while_and_wiped(self):
        # On a busy machine the program may come to its first frame only when the pause is over.
        for pause in (0.9, 3, 10, 30):
            shown = self.on_a_terminal(self.long_capture(), pause=pause)
            if shown:
                break
        self.assertIn("frames  standard input", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown[-80:]))

    def test_not_shown_when_not_wanted(self):
        octets = self.long_capture()
        self.assertEqual(self.on_a_terminal(octets, "--no-progress"), "")
        self.assertEqual(self.on_a_terminal(octets, "-q"), "")
        self.assertEqual(self.on_a_terminal(octets, TERM="dumb"), "")

    def test_not_shown_for_what_is_quick(self):
        with open(harness.capture(HEALTHY), "rb") as handle:
            octets = handle.read()
        # On a busy machine nothing is quick: one try of many is enough.
        self.assertIn("", (self.on_a_terminal(octets, pause=0) for _ in range(20)))


def main():
    global ANALYZER
    ANALYZER, rest = alone.analyzer_given(__doc__)
    alone.main(rest)


if __name__ == "__main__":
    main()
