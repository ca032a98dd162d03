# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that write files of their own."""
import os
import tempfile
import unittest


class Folder(unittest.TestCase):
    """Each test has an empty folder, which is gone behind it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, octets):
        with open(self.path(name), "wb") as file:
            file.write(octets)
        return self.path(name)
