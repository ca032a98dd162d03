# SPDX-License-Identifier: GPL-2.0-or-later
"""What a failing test prints below its complaint: the command that runs the failing part alone."""
import argparse
import os
import shlex
import sys
import unittest


def command(*arguments):
    """This script again, with these arguments; those that name files are made to work from anywhere, and so is the plugin."""
    plugin = os.environ.get("RPCRDMA_PLUGIN")
    setting = "RPCRDMA_PLUGIN=" + shlex.quote(os.path.abspath(plugin)) + " " if plugin else ""
    words = [os.path.abspath(sys.argv[0]), *(os.path.abspath(a) if os.path.exists(a) else a for a in map(str, arguments))]
    return "alone: " + setting + shlex.join(words)


def analyzer_given(doc):
    """-> the analyzer that --analyzer names, and the words of the command line that are unittest's own."""
    options = argparse.ArgumentParser(description=doc)
    options.add_argument("--analyzer", required=True, type=os.path.abspath)
    given, rest = options.parse_known_args()
    return given.analyzer, rest


def main(rest):
    """unittest.main whose failures print it. `rest`: the words of the command line that are unittest's own."""
    kept = [word for word in sys.argv[1:] if word not in rest]

    class Result(unittest.TextTestResult):
        def getDescription(self, test):
            name = getattr(test, "test_case", test).id().removeprefix("__main__.")
            return f"{super().getDescription(test)}\n{command(*kept, name)}"

    unittest.main(argv=[sys.argv[0], *rest], testRunner=unittest.TextTestRunner(resultclass=Result))
