# SPDX-License-Identifier: GPL-2.0-or-later
"""One start of tshark for many captures: the other end of tests/plugin/one_start.cpp."""
import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading

AT_REST = 4  # tsharks that wait for another capture; each holds some 100 MB


class Standing:
    """A tshark that has started and waits for captures."""

    def __init__(self, command, folder):
        self.folder = folder
        handle, self.said_at_start = tempfile.mkstemp(dir=folder)
        with open(handle, "wb") as errors:
            # A group of its own: a child that hangs ends with it.
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)

    def read(self, capture, timeout):
        """-> (exit status, output, errors), in octets"""
        output, errors = (os.path.join(self.folder, f"{what}-{threading.get_ident()}") for what in ("output", "errors"))
        try:
            self.process.stdin.write(f"{os.path.abspath(capture)}\t{output}\t{errors}\n".encode())
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"tshark on {capture}", timeout)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer.strip():
            with open(self.said_at_start, encoding="utf-8", errors="replace") as file:
                raise SystemExit(f"tshark ends before it reads {capture}: status {self.process.wait()}: {file.read()[-1000:]}")
        found = []
        for path in (self.said_at_start, errors, output):
            with open(path, "rb") as file:
                found.append(file.read())
        return int(answer), found[2], found[0] + found[1]

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def kill(self):
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself, and that is told
            os.killpg(self.process.pid, signal.SIGKILL)
        self.end()


class OneStart:
    """The tsharks that stand, by their command."""

    def __init__(self, folder):
        self.folder, self.lock, self.resting = folder, threading.Lock(), []

    def run(self, command, capture, timeout):
        key, standing = tuple(command), None
        with self.lock:
            for at, (its_key, its_standing) in enumerate(self.resting):
                if its_key == key:
                    del self.resting[at]
                    standing = its_standing
                    break
        standing = standing or Standing(command, self.folder)
        try:
            found = standing.read(capture, timeout)
        except BaseException:
            standing.kill()
            raise
        with self.lock:
            self.resting.append((key, standing))
            too_many = self.resting[:-AT_REST]
            del self.resting[:-AT_REST]
        for _, each in too_many:
            each.end()
        return found

    def end(self):
        for _, each in self.resting:
            each.end()
        self.resting = []
