package soak

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/internal/must"
)

// Harm damages what commands judge, and sees that no verdict gets better by it.
type Harm struct {
	Program Program
	// Work is an empty folder for trials.
	Work string

	shipped   []*specimen
	elsewhere []*specimen // recordings that are not in the repository
}

// NewHarm knows all recordings, and those below the folder real if it is there.
func NewHarm(p Program, root, work, real string) (*Harm, error) {
	root, err := filepath.Abs(root)
	if err == nil && real != "" {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	h := &Harm{Program: p, Work: work}
	list, err := specimens(root, real)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if strings.HasPrefix(s.name, "real ") {
			h.elsewhere = append(h.elsewhere, s)
		} else {
			h.shipped = append(h.shipped, s)
		}
	}
	return h, nil
}

// prepare lays out a specimen, judges it as it is and finds what is expected.
func (h *Harm) prepare(s *specimen) error {
	s.once.Do(func() {
		if err := h.layOut(s); err != nil {
			s.broken = fmt.Errorf("%s: %w", s.name, err)
		}
	})
	return s.broken
}

func (h *Harm) layOut(s *specimen) (err error) {
	defer must.Catch(&err)
	dir := filepath.Join(h.Work, "base", strings.NewReplacer(" ", "_", "/", "_").Replace(s.name))
	in := filepath.Join(dir, "in")
	must.Do(os.MkdirAll(in, 0o700))
	must.Do(s.lay(in))
	s.base = dir
	p := h.Program
	p.Dir = dir
	for _, args := range s.first {
		must.Get(p.run(0, args...))
	}
	if found, _ := filepath.Glob(filepath.Join(in, "tables", "result_*.csv")); len(found) == 1 {
		must.Do(os.Rename(found[0], filepath.Join(in, "tables", "result.csv")))
	}
	s.known = map[string]int{}
	if s.form == logs {
		return nil
	}
	must.Do(h.wholeOf(s, s.commands[0]))
	s.faulty = s.commands[0].whole.verdict != "good"
	return s.expect()
}

// wholeOf judges the undamaged specimen.
func (h *Harm) wholeOf(s *specimen, j *judgement) error {
	j.once.Do(func() {
		s.busy.Lock()
		defer s.busy.Unlock()
		j.whole, j.broken = h.judge(s.base, j)
	})
	return j.broken
}

// expect finds in the table of the comparison which tensors were compared.
func (s *specimen) expect() error {
	found, err := filepath.Glob(filepath.Join(s.commands[0].whole.tables, "result_*.csv"))
	if more, _ := filepath.Glob(filepath.Join(s.commands[0].whole.tables, "tables", "*.csv")); len(found) == 0 {
		found = more
	}
	if kept := filepath.Join(s.base, "in", "tables", "result.csv"); len(found) == 0 && exists(kept) {
		found = []string{kept}
	}
	for _, path := range found {
		if err := s.expectTable(path); err != nil {
			return err
		}
	}
	return err
}

func (s *specimen) expectTable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return err
	}
	at := map[string]int{}
	for i, title := range rows[0] {
		at[title] = i
	}
	cell := func(row []string, title string) string {
		if i, ok := at[title]; ok && i < len(row) {
			return row[i]
		}
		return ""
	}
	for _, row := range rows[1:] {
		s.tensors++
		if cell(row, "CompareFailReason") != "" || cell(row, "TensorIndex") == "NaN" {
			continue
		}
		s.known["left "+flat(cell(row, "NPUDump"))]++
		if strings.Contains(cell(row, "TensorIndex"), ":input:") && cell(row, "Place") == "" {
			continue // held against the output of what makes it
		}
		for _, name := range strings.Fields(cell(row, "GroundTruth")) {
			s.known["right "+flat(name)]++
		}
		if place := cell(row, "Place"); place != "" {
			s.known["left "+flat(cell(row, "NPUDump")+"."+place)]++
			s.known["right "+flat(cell(row, "GroundTruth")+"."+place)]++
		}
	}
	return nil
}

func flat(name string) string { return strings.ReplaceAll(name, "/", "_") }

// Trial is what came of one damage to one specimen.
type Trial struct {
	Seed                          uint64
	Specimen, Command, Kind, What string
	// Line is the command line that was run last, with its gate where that passed.
	Line          string
	Before, After string
	// Harmed: the verdict or a status is another one than before; Passed: the plain gate let it
	// pass within what may be missing, by name; Acquittal says what is wrong, "" for nothing.
	Harmed, Passed bool
	Acquittal      string
	// Faulty: the specimen has a fault.
	Faulty bool
}

// Name is what a pattern of trials is matched with.
func (t *Trial) Name() string { return t.Kind + ", " + t.Command + ", " + t.Specimen }

// Damage damages one specimen, which the seed picks, in one way, and judges it. If the name
// of the trial does not suit, it is not run and nil. A folder of the trial is left if keep is set.
func (h *Harm) Damage(seed uint64, suits func(name string) bool, keep bool) (*Trial, error) {
	rng := rand.New(rand.NewPCG(seed, 5))
	list := h.shipped
	if len(h.elsewhere) > 0 && seed%4 == 0 {
		list = h.elsewhere
	}
	for range 1000 {
		kind := &injuries[rng.IntN(len(injuries))]
		form := kind.forms[rng.IntN(len(kind.forms))]
		recorded := rng.IntN(2) == 0 // half of the networks are of the many small cases
		of := slices.DeleteFunc(slices.Clone(list), func(s *specimen) bool {
			return s.form != form || form == dumps && recorded != strings.HasPrefix(s.name, "case ")
		})
		if len(of) == 0 {
			continue
		}
		s := of[rng.IntN(len(of))]
		j := s.commands[rng.IntN(len(s.commands))]
		if kind.unfit != nil && kind.unfit(s, j) {
			continue
		}
		err := h.prepare(s)
		if err == nil {
			err = h.wholeOf(s, j)
		}
		if err != nil {
			return nil, err
		}
		if j.whole.statuses[0] != 0 || rank(j.whole.verdict) < 0 && !j.silent {
			continue // it has nothing to lose
		}
		t := &Trial{Seed: seed, Specimen: s.name, Command: j.name, Kind: kind.name, Faulty: s.faulty}
		if !suits(t.Name()) {
			return nil, nil
		}
		done, err := h.trial(t, rng, s, j, kind, keep)
		if err != nil || done {
			return t, err
		}
	}
	return nil, fmt.Errorf("seed %d: nothing could be damaged", seed)
}

// trial is a trial in a folder of its own; false where the kind of damage finds nothing.
func (h *Harm) trial(t *Trial, rng *rand.Rand, s *specimen, j *judgement, kind *injury, keep bool) (bool, error) {
	dir := filepath.Join(h.Work, fmt.Sprint("d", t.Seed))
	if !keep {
		defer os.RemoveAll(dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return false, err
	}
	if err := linkTree(filepath.Join(s.base, "in"), filepath.Join(dir, "in")); err != nil {
		return false, err
	}
	p := &patient{s: s, j: j, dir: dir, rng: rng, h: h, left: j.left}
	harm, err := must.Of(func() *harm { return kind.do(p) })
	if err != nil || harm == nil {
		return false, err
	}
	t.What = harm.what
	after, err := h.judge(dir, j)
	if err != nil {
		return true, fmt.Errorf("seed %d, %s, %s: %w", t.Seed, t.Name(), t.What, err)
	}
	t.Before, t.After = j.whole.String(), after.String()
	t.Harmed = t.Before != t.After
	gate := ""
	gate, t.Passed, t.Acquittal = acquittal(s, j, harm, after)
	t.Line = strings.TrimSpace("precision " + strings.Join(j.args, " ") + " " + gate)
	if keep {
		t.Line = "cd " + dir + "; " + t.Line
	}
	return true, nil
}

// acquittal says what is wrong with the outcome of a damage, and at which gate.
func acquittal(s *specimen, j *judgement, harm *harm, after *outcome) (gate string, passed bool, why string) {
	whole := j.whole
	if harm.how == nothing {
		if whole.String() != after.String() {
			why = "it says the same in another way, and is judged otherwise"
		}
		return "", false, why
	}
	if after.statuses[2] == 0 && harm.how != told {
		return "-gate=strict", false, "it passes the strict gate"
	}
	beyond := harm.beyond(s)
	if harm.how == missing && whole.expected > 0 && after.verdict != "" {
		// What one dump lacks another may have as its input: the count of what was compared is
		// the command's, that of what is expected is the one before.
		if lost := *harm; harm.closed == "" && !harm.partner {
			lost.tensors = 0
			if beyond = lost.beyond(s); after.compared*2 < whole.expected {
				beyond = fmt.Sprintf("%d of %d tensors were compared", after.compared, whole.expected)
			}
		}
	}
	var unnamed []string
	for _, words := range harm.names {
		if !after.mentions(words, whole) {
			unnamed = append(unnamed, words[0])
		}
	}
	if after.statuses[1] == 0 && !(harm.unseen && j.csv) {
		switch {
		case beyond != "":
			return "-gate", false, "it passes the gate, although " + beyond
		case len(unnamed) > 0:
			return "-gate", false, fmt.Sprintf("it passes the gate and does not name %s (%d of %d)", unnamed[0], len(unnamed), len(harm.names))
		}
		passed = true
	}
	was, is := rank(whole.verdict), rank(after.verdict)
	switch {
	case was >= 0 && is >= 0 && is < was && !(passed || beyond == "" && (harm.how == damaged || harm.how == missing) && len(unnamed) == 0) && !(harm.unseen && j.csv):
		return "", false, fmt.Sprintf("the verdict was %s and is %s", whole.verdict, after.verdict)
	case was < 0 && is == 0:
		return "", false, "a verdict that was inconclusive is good"
	}
	return "", passed, ""
}

// linkTree makes a folder with the same files, which whoever changes one replaces.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		return os.Link(path, at)
	})
}

// DamageKinds are the kinds of damage, in the order of tables.
func DamageKinds() (names []string) {
	for i := range injuries {
		names = append(names, injuries[i].name)
	}
	return names
}

// DamageCommands are the commands that judge what was damaged.
func DamageCommands() []string {
	return []string{"compare", "compare -check", "compare -baseline", "compare -after", "compare -all", "compare -all -after", "check", "report", "report csv", "report -baseline", "preflight diff"}
}
