//go:build unix

package soak

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fake is a campaign over a program in shell that makes a table of its two inputs, and
// beside that what is wrong with it.
func fake(t *testing.T, wrong string) *Campaign {
	t.Helper()
	const table = `{ echo Index,NPUDump,GroundTruth,TensorIndex,Value; echo "0,a,a,a:output:0,$(cksum <in/a)"; echo "1,b,b,b:output:0,$(cksum <in/b)"; } >out/result.csv
`
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+table+wrong+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &Campaign{Programs: map[string]Program{"precision": {Path: program, Longest: 5 * time.Second, Memory: 512 << 20, Statuses: Statuses}}, Work: t.TempDir()}
	c.scenarios = map[string][]*scenario{"precision": {{program: "precision", name: "fake", table: true, kill: true, writes: []string{"out"}, inputs: func(in string) error {
		for _, name := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(in, name), []byte(strings.Repeat(name+" is an input\n", 20)), 0o600); err != nil {
				return err
			}
		}
		return nil
	}}}}
	return c
}

// What campaigns look for is found when it is there.
func TestCampaignSeesFaults(t *testing.T) {
	for _, x := range []struct{ name, wrong, says string }{
		{"nothing", "", ""},
		{"panic", `echo "panic: boom" >&2; exit 2`, "panics"},
		{"status", "exit 99", "exit status 99"},
		{"half a table", "printf 1,b >>out/result.csv", "is cut"},
		{"short row", "echo 1,b >>out/result.csv", "wrong number of fields"},
		{"half JSON", "printf '{' >out/v.json", "no JSON"},
		{"temporary file", ": >out/.precision-1.tmp", "left behind"},
		{"outside", ": >elsewhere", "outside"},
		{"input", "echo >>in/b", "outside"},
		{"input removed", "rm in/b", "removed"},
		{"home", ": >home/.history", "outside"},
		{"escape", `printf '\033[2J'`, "control characters"},
		{"slow", "exec sleep 6", "runs longer"},
	} {
		c := fake(t, x.wrong)
		if x.name == "slow" {
			p := c.Programs["precision"]
			p.Longest = 200 * time.Millisecond
			c.Programs["precision"] = p
		}
		_, err := c.Mutant(1)
		if (err != nil) != (x.says != "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, expected %q", x.name, err, x.says)
		}
	}

	// The row of b is another one where a has grown, which a file that is not there,
	// one that is cut and one of other bytes do not show.
	c := fake(t, `[ "$(wc -c <in/a)" -gt 280 ] && sed -i 's/^1,b.*/1,b,b,b:output:0,7/' out/result.csv; true`)
	seen := false
	for seed := uint64(0); seed < 60 && !seen; seed++ {
		_, err := c.Mutant(seed)
		seen = err != nil && strings.Contains(err.Error(), "row of another operator")
	}
	if !seen {
		t.Error("a row of another operator that changes is not seen")
	}

	// A disk that is full must not pass for success.
	c = fake(t, "")
	p := c.Programs["precision"]
	p.Path = fakeIgnoring(t)
	c.Programs["precision"] = p
	failed := false
	for seed := uint64(0); seed < 30 && !failed; seed++ {
		_, err := c.Full(seed)
		failed = err != nil
	}
	if !failed {
		t.Error("a program that minds no full disk passes")
	}
}

// fakeIgnoring is a program that does not mind that it cannot write.
func fakeIgnoring(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	const text = "#!/bin/sh\ntrap '' XFSZ\n{ echo Index,NPUDump; head -c 4000 /dev/zero | tr '\\0' x | sed 's/^/0,/'; echo; } >out/result.csv 2>/dev/null\nexit 0\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}
