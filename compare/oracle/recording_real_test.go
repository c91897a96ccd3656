package oracle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// TestRealRecordings checks the recordings of ../shared. Their numbers were computed by
// PyTorch on a CPU, arithmetic that is not ours: no call may be wrong, as the faults in
// them are in arguments and inputs, and four of five calls that compute are known.
// With -v it prints the table of docs/recordings.md.
func TestRealRecordings(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "real", "msprobe")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recordings beside the repository")
	}
	// Recordings of parts of tensors, and those of statistics, hold no call as a whole.
	parts := map[string]bool{"cnn_l1_tensor_slice": true}
	dirs, err := filepath.Glob(filepath.Join(root, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all tally
	t.Logf("%-30s %6s %6s %6s %8s %6s", "recording", "calls", "known", "right", "suspect", "wrong")
	for _, dir := range dirs {
		list, err := msprobe.Find(dir)
		if err != nil {
			continue // of another format
		}
		if _, err := os.Stat(filepath.Join(list[0].Dir, msprobe.TensorFolder)); err != nil {
			continue // statistics alone
		}
		findings, _, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
		if err != nil {
			t.Error(dir, err)
			continue
		}
		for _, f := range findings {
			if f.Verdict == Wrong || slices.ContainsFunc(f.Reasons, crash) {
				t.Errorf("%s %s output %d: %v, ratio %g, at %v expected %g, found %g, bound %g: %v", dir, f.Op, f.Index, f.Verdict, f.Ratio, f.Worst, f.Expected,
					f.Found, f.Bound, f.Reasons)
			}
		}
		n := tallied(findings)
		name := filepath.Base(filepath.Dir(dir))
		if n.tensors == 0 {
			continue
		}
		t.Logf("%-30s %6d %6d %6d %8d %6d", name+" "+filepath.Base(dir), n.calls, n.known, n.right, n.suspect, n.wrong)
		if !parts[name] && 10*n.known < 9*n.calls {
			t.Errorf("%s: %d of %d calls are known, expected nine of ten", dir, n.known, n.calls)
		}
		all.add(n)
	}
	t.Logf("%-30s %6d %6d %6d %8d %6d", "all", all.calls, all.known, all.right, all.suspect, all.wrong)
	if 10*all.known < 8*all.calls || all.calls < 500 {
		t.Errorf("%d of %d calls are known, expected four of five", all.known, all.calls)
	}
}

// tally counts calls that compute: those with results that have elements, but for
// modules made of calls that are counted by themselves. A call is known if all its
// results are, and as bad as the worst.
type tally struct{ calls, known, right, suspect, wrong, tensors int }

func (n *tally) add(m tally) {
	n.calls += m.calls
	n.known += m.known
	n.right += m.right
	n.suspect += m.suspect
	n.wrong += m.wrong
}

func tallied(findings []Finding) (n tally) {
	worst := map[string]Verdict{}
	unknown := map[string]bool{}
	for _, f := range findings {
		if slices.ContainsFunc(f.Reasons, func(r result.Reason) bool {
			return slices.Contains([]result.Kind{Composite, Composed, Apart, PartUnknown, Unmade, Empty}, r.Kind)
		}) {
			continue
		}
		if !slices.ContainsFunc(f.Reasons, func(r result.Reason) bool { return r.Kind == NoElements && strings.HasPrefix(r.Args[0], "output") }) {
			n.tensors++
		}
		worst[f.Op] = max(worst[f.Op], f.Verdict)
		unknown[f.Op] = unknown[f.Op] || f.Verdict == Unknown
	}
	for op, v := range worst {
		n.calls++
		if unknown[op] {
			continue
		}
		n.known++
		switch v {
		case OK:
			n.right++
		case Suspect:
			n.suspect++
		case Wrong:
			n.wrong++
		}
	}
	return n
}
