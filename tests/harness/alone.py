# SPDX-License-Identifier: GPL-2.0-or-later
"""What a failing test prints below its complaint: the command that runs the failing part alone."""
import os
import shlex
import sys


def command(*arguments):
    """This script again, with these arguments; those that name files are made to work from anywhere, and so is the plugin."""
    plugin = os.environ.get("RPCRDMA_PLUGIN")
    setting = "RPCRDMA_PLUGIN=" + shlex.quote(os.path.abspath(plugin)) + " " if plugin else ""
    words = [os.path.abspath(sys.argv[0]), *(os.path.abspath(a) if os.path.exists(a) else a for a in map(str, arguments))]
    return "alone: " + setting + shlex.join(words)
