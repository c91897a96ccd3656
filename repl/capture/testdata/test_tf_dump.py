"""Tests of how tf_dump.py reads the list of tensors and names files."""
import unittest

import tf_dump


class Names(unittest.TestCase):
    def test_list(self):
        text = ("6 dumped tensor(s):\n\nt (ms)   Size (B) Op type    Tensor name\n"
                "[0.000]  16       VariableV2 w/v:0\n[0.102]  4 k      Add        while/add:0\n[1.5]    4 Identity id:0\n"
                "[2.000]  4        Add        while/add:0\n[2.1]    4        Add        while/add:1\n[3.000]  4        Add        while/add:0\n\n")
        self.assertEqual(tf_dump.parse_names(text), [
            ("w/v:0", 0), ("while/add:0", 0), ("id:0", 0), ("while/add:0", 1), ("while/add:1", 0), ("while/add:0", 2)])

    def test_empty(self):
        for text in ("", "0 dumped tensor(s):\n\nt (ms) Size (B) Op type Tensor name\n", "one\ntwo"):
            self.assertEqual(tf_dump.parse_names(text), [])

    def test_file(self):
        self.assertEqual(tf_dump.file_name("a/b:0", 1630000000000123), "a_b.0.1630000000000123.npy")
        self.assertEqual(tf_dump.file_name("net/block/conv:12", 1), "net_block_conv.12.1.npy")


if __name__ == "__main__":
    unittest.main()
