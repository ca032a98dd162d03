# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark with the plugin and without: where it looks for plugins, whose user it is, and rows of fields."""
import os
import shutil
import subprocess
import tempfile

import one_start as starting

NOBODY = 65534


class Result:
    def __init__(self, status, output, errors, seconds=0.0, memory=0):
        self.status, self.output, self.errors, self.seconds, self.memory = status, output, errors, seconds, memory


class Tshark:
    """`plugin`: path of rpcrdma.so, or None for stock tshark. `one_start`: path of the library that lets one start of tshark read many
    captures; without it each run starts a tshark. Wireshark ignores WIRESHARK_PLUGIN_DIR for root: then tshark runs as nobody, on
    copies of files that nobody could not read. Use as a context manager."""

    def __init__(self, plugin=None, preload=None, environment=None, one_start=None):
        self.plugin, self.preload, self.environment = plugin, preload, environment or {}
        self.one_start = os.path.abspath(one_start) if one_start else None

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="tshark-")
        self.standing = starting.OneStart(self.home) if self.one_start else None
        first = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True,
                               stdin=subprocess.DEVNULL).stdout.split("\n")[0]
        self.version = first.split("(Wireshark) ")[1].split()[0]
        folder = os.path.join(self.home, "plugins", ".".join(self.version.split(".")[:2]), "epan")
        os.makedirs(folder)
        os.makedirs(os.path.join(self.home, "data"))
        if self.plugin:
            shutil.copy(self.plugin, os.path.join(folder, "rpcrdma.so"))
        if self.one_start:
            self.one_start = shutil.copy(self.one_start, self.home)
        if os.geteuid() == 0:
            for where, _, files in os.walk(self.home):
                for path in [where, *(os.path.join(where, f) for f in files)]:
                    os.chown(path, NOBODY, NOBODY)
        return self

    def __exit__(self, *_):
        if self.standing:
            self.standing.end()
        shutil.rmtree(self.home, ignore_errors=True)

    def command(self, *arguments, preload=()):
        as_user = []
        if os.geteuid() == 0:
            as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            arguments = [self._readable(a) for a in arguments]
        # An empty folder for stock tshark too: a plugin that is installed must not be compared with itself. And no data: with -n
        # nothing that is printed depends on the lists of makers and services, and to read them takes longer than most captures.
        settings = {"HOME": self.home, "WIRESHARK_PLUGIN_DIR": os.path.join(self.home, "plugins"), "LC_ALL": "C.UTF-8",
                    "WIRESHARK_DATA_DIR": os.path.join(self.home, "data"), **self.environment}
        preload = [p for p in (self.preload, *preload) if p]
        if preload:
            settings["LD_PRELOAD"] = ":".join(preload)
        return [*as_user, "env", *(f"{k}={v}" for k, v in settings.items()), "tshark", "-n", *arguments]

    def _readable(self, argument):
        if not os.path.isfile(argument) or argument.startswith(self.home):
            return argument
        path, readable = os.path.abspath(argument), True
        readable = bool(os.stat(path).st_mode & 0o004)
        while readable and path != "/":
            path = os.path.dirname(path)
            readable = bool(os.stat(path).st_mode & 0o001)
        if readable:
            return argument
        copy = os.path.join(self.home, os.path.basename(argument))
        if not os.path.exists(copy) or os.stat(copy).st_mtime < os.stat(argument).st_mtime:
            shutil.copy(argument, copy)
            os.chmod(copy, 0o644)
        return copy

    def run(self, *arguments, timeout=3600):
        if self.standing and "-r" in arguments:
            at = arguments.index("-r") + 1
            capture = self._readable(arguments[at]) if os.geteuid() == 0 else arguments[at]
            command = self.command(*arguments[:at], "of-each-line", *arguments[at + 1:], preload=[self.one_start])
            status, output, errors = self.standing.run(command, capture, timeout)
            return Result(status, output.decode("utf-8", "backslashreplace"), errors.decode("utf-8", "backslashreplace"))
        done = subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
        return Result(done.returncode, done.stdout.decode("utf-8", "backslashreplace"),
                      done.stderr.decode("utf-8", "backslashreplace"))

    def begin(self, *arguments, processor):
        """A run on this processor alone, its output thrown away; `end` waits for it."""
        command = ["taskset", "--cpu-list", str(processor), *self.command(*arguments)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def end(process):
        """Processor time and the largest resident set in octets of what `begin` began."""
        with process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return Result(process.returncode, "", "", used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)

    def rows(self, path, names, *options, display_filter=None, passes=1):
        """-> ([{field: [its values in the frame]}], Result). Values hold no tabulator."""
        command = [*(["-2"] if passes == 2 else []), *options, "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a",
                   "-E", "aggregator=\x1f"]
        command += [w for n in names for w in ("-e", n)] + (["-Y", display_filter] if display_filter else [])
        done = self.run(*command)
        found = []
        for line in done.output.splitlines():
            values = line.split("\t")
            found.append({n: v.split("\x1f") if v else [] for n, v in zip(names, values + [""] * len(names))})
        return found, done


def findings_of_row(row, said, passes):
    """[(rule, frame)] of a row with rpcordma.finding and rpcordma.finding_of. In one pass a finding may stand on a later frame than the
    one at fault, which that field names; which of several belongs to which, `said` tells: how often the analyzer has each pair."""
    here = int(row["frame.number"][0])
    about = [here, *(int(f) for f in row["rpcordma.finding_of"] if passes == 1 and int(f) < here)]
    found = []
    for rule in row["rpcordma.finding"]:
        found.append(next(((rule, f) for f in about if found.count((rule, f)) < said[rule, f]), (rule, here)))
    return found
