#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison itself: it has to object where it should, else every golden test is worth nothing."""
import unittest

import compare


def finding(rule, severity="error", frames=(7,), violator="client", connection=1):
    return {"rule": rule, "severity": severity, "frames": list(frames), "violator": violator, "connection": connection}


def judged(expected, *findings):
    return list(compare.check_findings(expected, {"findings": list(findings)}, {1: {"id": 1}}))


class Leaves(unittest.TestCase):
    def test_plain_values_must_be_equal(self):
        self.assertFalse(list(compare.differences({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}})))
        self.assertEqual(list(compare.differences({"a": {"b": 1}}, {"a": {"b": 2}})), [("a.b", 1, 2)])

    def test_a_missing_key_is_a_difference_even_where_null_is_expected(self):
        self.assertEqual(list(compare.differences({"a": None}, {})), [("a", None, "nothing")])
        self.assertEqual(list(compare.differences({"a": {"not": None}}, {})), [("a", {"not": None}, "nothing")])
        self.assertEqual(list(compare.differences({"a": {"b": 1}}, {"a": None})), [("a.b", 1, "nothing")])

    def test_any_not_and_min(self):
        for wanted, good, bad in (({"any": [1, 2]}, 2, 3), ({"not": None}, {}, None), ({"min": 3}, 3, 2), ({"min": 3}, 4, None)):
            self.assertTrue(compare.admits(wanted, good))
            self.assertFalse(compare.admits(wanted, bad))

    def test_truth_values_are_no_numbers(self):
        self.assertFalse(compare.admits(True, 1))
        self.assertFalse(compare.admits({"min": 0}, True))


class Findings(unittest.TestCase):
    def test_a_demanded_finding_has_to_be_there(self):
        expected = {"must": [{"rule": ["x", "y"], "frames": [7], "violator": "client", "severity": "error", "connection": 1}]}
        self.assertFalse(judged(expected, finding("y")))
        for other in (finding("z"), finding("x", frames=(8,)), finding("x", violator="server"), finding("x", "warning"),
                      finding("x", connection=2)):
            self.assertTrue(any(line.startswith("missed") for line in judged(expected, other)), other)

    def test_what_nobody_asked_for_is_false_from_warning_on(self):
        self.assertTrue(judged({}, finding("x", "warning")))
        self.assertFalse(judged({}, finding("x", "note")))
        self.assertFalse(judged({"allow": ["x"]}, finding("x")))

    def test_must_not_and_innocent(self):
        self.assertTrue(judged({"must_not": [{"rule": "x"}]}, finding("x", "note")))
        self.assertFalse(judged({"must_not": [{"rule": "x", "frames": [8]}]}, finding("x", "note")))
        self.assertTrue(judged({"allow": ["x"], "innocent": "client"}, finding("x")))


class Pairs(unittest.TestCase):
    def test_ports_tell_connections_apart(self):
        wanted = {"client": {"address": "a", "port": 2, "qpn": None}}
        reported = [{"id": 1, "client": {"address": "a", "port": 1, "qpn": None}}, {"id": 2, "client": {"address": "a", "port": 2, "qpn": None}}]
        self.assertEqual(compare.same_connection(wanted, reported, set())["id"], 2)
        self.assertIsNone(compare.same_connection(wanted, reported[:1], set()))


if __name__ == "__main__":
    unittest.main()
