package recorded

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		path, want, got string
		same            bool
	}{
		{"r.csv", "A,B\r\n1.000000,NaN\r\n", "A,B\n1.0000005,NaN\n", true},
		{"r.csv", "A,B\r\n1.000000,NaN\r\n", "A,B\n1.00001,NaN\n", false},
		{"r.csv", "A\nNaN\n", "A\nnan\n", false},
		{"r.csv", "A\n(0.1;2.0)\n", "A\n(0.1;2.0000001)\n", true},
		{"r.csv", "CompareFailReason,A\nx,1\n", "CompareFailReason,A\ny,1\n", true},
		{"r.csv", "CompareFailReason,A\nx,1\n", "CompareFailReason,A\n,1\n", false},
		{"r.csv", "A\n1\n", "A\n", false},
		{"r.json", `{"a":1,"b":[2]}`, `{"b":[2], "a":1}`, true},
		{"r.json", `{"a":1}`, `{"a":2}`, false},
		{"r.txt", "x: 1\n", "x: 1\n", true},
		{"r.txt", "x: 1\n", "y: 1\n", false},
		{"r.bin", "ab", "ab", true},
		{"r.bin", "ab", "ac", false},
	} {
		err := Same(c.path, c.want, c.got, "")
		if (err == nil) != c.same {
			t.Errorf("%s %q against %q: %v", c.path, c.got, c.want, err)
		}
	}
}
