package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/graph"
	"precision/graph/fusion"
	"precision/internal/interrupt"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Job says what to compare, by paths. Open finds and checks everything and
// gives a Session that is ready to run.
type Job struct {
	// Left is the folder with the NPU dumps, or one above it; Right the
	// other side.
	Left, Right string
	// Graph is the GE graph of the NPU side; empty matches by name.
	Graph string
	// Quant is the graph of the quantised framework model, Closed that of a
	// right side built without fusion.
	Quant, Closed string

	// LeftTime and RightTime choose among several recordings in a folder: the
	// name of one as Session.Left and Right have it, its beginning, or a time in it;
	// empty takes the newest complete one.
	LeftTime, RightTime string

	// Options are those of the comparison.
	Options

	// Inputs gives folders and graphs, nil reads them from the disk.
	Inputs Inputs
}

// Session is a comparison ready to run.
type Session struct {
	Folders Folders
	// Warnings are things a user should know that do not stop the run.
	Warnings []error
	// Graph is the path of the graph the pairs come from, empty without one, and
	// GraphHow how it was found: "given", or why it was taken.
	Graph, GraphHow string
	// Found is the graph that was taken of a folder, or found beside the dumps, and
	// How it was recognised; empty if a file was named.
	Found string
	How   graph.MatchHow
	// Left and Right tell which recordings are compared, Notes what to know of
	// the pairs, Covered what either way of pairing brings together.
	Left, Right result.Side
	// Before is the recording of the left side before the one that is compared, nil without one: what
	// stale data may come from.
	Before  *dump.Folder
	Notes   []result.Reason
	Covered map[result.How]int

	arrays  *arrayPair // two folders of arrays
	unfused bool       // a graph of the right side is known
}

// Open resolves the folders, lists them, reads the graph, and refuses what
// cannot give a sensible result.
func (j Job) Open(ctx context.Context) (*Session, error) {
	return interrupt.Await(ctx, func() (*Session, error) { return j.open(ctx) })
}

func (j Job) open(ctx context.Context) (*Session, error) {
	s := &Session{Folders: Folders{Options: j.Options}}
	if j.Inputs == nil {
		j.Inputs = &disk{ctx: ctx}
	}
	// The graph is read while the folders are listed: neither waits for the
	// other.
	byGraph := j.Graph != "" || j.Quant != ""
	rules := make(chan error, 1)
	folder := plainfile.IsFolder(j.Graph)
	if !folder {
		go func() { rules <- j.openRules(s) }()
	}
	var err error
	if s.Folders.Left, err = j.openFolder(s, j.Left, true, byGraph); err == nil {
		s.Folders.Right, err = j.openFolder(s, j.Right, false, byGraph)
	}
	if folder && err == nil {
		// Which graph of a folder it is depends on what was dumped.
		if j.Graph, err = j.findGraph(s); err == nil {
			err = j.openRules(s)
		}
	} else if !folder {
		select {
		case failed := <-rules:
			if err == nil {
				err = failed
			}
		case <-ctx.Done(): // also while a pipe or a far disk keeps the reader waiting
			err = ctx.Err()
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	given := s.Folders.Rules != nil
	if err == nil && !given {
		s.lookForGraph(j.Inputs)
	}
	if err == nil {
		err = j.takeRecordings(s)
	}
	if err == nil {
		err = s.checkSides()
	}
	if err == nil && s.Folders.Rules != nil {
		if s.Graph, s.GraphHow = j.Graph, "given"; s.Found != "" {
			s.Graph, s.GraphHow = s.Found, s.How.String()
		}
		s.unfused = j.Closed != ""
		s.choosePairing(given)
		if given {
			err = s.checkGraph(j.Graph)
		}
	}
	if err != nil {
		return nil, err
	}
	return s, s.Folders.Validate()
}

// takeRecordings settles for each side which recording is compared.
func (j Job) takeRecordings(s *Session) (err error) {
	o := &s.Folders
	var left, right []result.Reason
	if o.Left, s.Before, left, err = takeRecording(o.Left, j.LeftTime, "left", &s.Left); err == nil {
		o.Right, _, right, err = takeRecording(o.Right, j.RightTime, "right", &s.Right)
	}
	s.Notes = slices.Concat(s.Notes, left, right)
	return err
}

// lookForGraph takes the graph that lies beside the dumps, if there is one.
func (s *Session) lookForGraph(in Inputs) {
	o := &s.Folders
	if !o.Left.Device() {
		return
	}
	match, ok := GraphBeside(o.Left, in)
	if !ok {
		if match.Model != nil {
			s.notTaken(match.Model.Path, o.Left, NamesOf(match.Model))
		}
		return
	}
	rules, err := in.Rules(match.Model)
	if err != nil {
		return // of a graph that nobody asked for
	}
	left := o.Left
	if slices.ContainsFunc(left.Ops, func(op *dump.Op) bool { return op.Slicing != dump.Whole }) {
		// The graph names operators, not slices.
		if again, err := in.Scan(left.Dir, true); err == nil {
			left = again
		}
	}
	if s.notTaken(match.Model.Path, left, names(rules)) {
		return
	}
	o.Left, o.Rules, s.Found, s.How = left, rules, match.Model.Path, match.How
}

// openFolder finds the data folder at or below path and lists it.
func (j Job) openFolder(s *Session, path string, left, rules bool) (*dump.Folder, error) {
	folder, err := j.Inputs.Scan(path, rules)
	if err == nil {
		s.warn(left, folder)
		return folder, nil
	}
	found, choices, err := dump.Resolve(path) // it may be below
	if len(choices) > 0 {
		if only := onlyOfKind(choices, left); only != "" {
			found, choices, err = only, nil, nil
		}
	}
	if err == nil {
		folder, err = j.Inputs.Scan(found, rules)
	}
	if err != nil && len(choices) == 0 {
		if plain, failed := dump.Scan(path, dump.Options{Plain: true}); failed == nil && plain.Numpy {
			folder, err = plain, nil
		}
	}
	if err != nil || len(choices) > 0 {
		return nil, &SideError{Right: !left, Path: path, Choices: choices, Err: err}
	}
	s.warn(left, folder)
	return folder, nil
}

// warn takes over the warnings about a folder.
func (s *Session) warn(left bool, folder *dump.Folder) {
	for _, w := range folder.Warnings {
		s.Warnings = append(s.Warnings, &SideWarning{!left, w})
	}
}

// onlyOfKind settles a choice by what a side can be: when just one of the
// folders holds device dumps it is the left side, when just one holds golden
// arrays it is the right one.
func onlyOfKind(choices []string, left bool) string {
	const most = 16 // listing more would be slower than asking
	if len(choices) > most {
		return ""
	}
	only := ""
	for _, c := range choices {
		f, err := dump.Scan(c, dump.Options{})
		if err != nil || f.Device() != left {
			continue
		}
		if only != "" {
			return ""
		}
		only = c
	}
	return only
}

// checkSides refuses combinations that cannot be compared.
func (s *Session) checkSides() error {
	left, right := s.Folders.Left, s.Folders.Right
	switch {
	case !left.Device() && right.Device():
		return &SwappedError{Arrays: left.Dir, Dumps: right.Dir}
	case !left.Device() && s.Folders.Rules == nil:
		s.arrays = &arrayPair{left, right}
	}
	return nil
}

// openRules reads the graphs and derives the fusion structure.
func (j Job) openRules(s *Session) (err error) {
	defer must.Catch(&err)
	if j.Graph == "" && j.Quant == "" {
		if j.Closed != "" {
			return ErrLoneGraph
		}
		return nil
	}
	open := func(path string) *fusion.Rules {
		if path == "" {
			return nil
		}
		must.Not(plainfile.IsFolder(path), "%s: a folder, expected a graph file; only the left side's graph may be given as a folder", path)
		return must.Get(j.Inputs.Rules(must.Get(j.Inputs.Graph(path))))
	}
	s.Folders.Rules = fusion.Merge(open(j.Graph), open(j.Quant), open(j.Closed))
	return nil
}

// findGraph finds the graph file below the folder Graph that the dumps on the left side
// belong to.
func (j Job) findGraph(s *Session) (string, error) {
	dir := j.Graph
	candidates, warnings, err := j.Inputs.Graphs(dir)
	if err != nil {
		return "", err
	}
	for _, w := range warnings {
		s.Warnings = append(s.Warnings, &GraphWarning{w})
	}
	left := s.Folders.Left
	matches := GraphsOf(left, candidates)
	if len(matches) == 0 {
		return "", &GraphFolderError{Dir: dir, Dumps: left.Dir, Graphs: len(candidates), Unread: warnings}
	}
	s.Found, s.How = matches[0].Candidate.Model.Path, matches[0].How
	return s.Found, nil
}

// checkGraph tells a graph of another network or build by its names.
func (s *Session) checkGraph(path string) error {
	left := s.Folders.Left
	strangers, err := Belongs(path, left, names(s.Folders.Rules))
	if err != nil && s.Folders.dialect().obeys {
		return nil // the old tool does as it is told: rows without values
	}
	if err != nil || len(strangers) == 0 {
		return err
	}
	sort.Strings(strangers)
	s.Warnings = append(s.Warnings, &StrangersWarning{len(strangers), len(left.Ops), left.Dir, filepath.Base(path), strangers[:min(mostMissing, len(strangers))]})
	return nil
}

// notTaken tells of a graph beside the dumps whether it is another network's, with a warning.
func (s *Session) notTaken(path string, dumps *dump.Folder, names iter.Seq2[string, string]) bool {
	var strange *StrangeGraphError
	if _, err := Belongs(path, dumps, names); !errors.As(err, &strange) {
		return false
	}
	s.Warnings = append(s.Warnings, &NotTakenWarning{strange})
	return true
}

// NamesOf are the operators of all graphs of a file.
func NamesOf(m *graph.Model) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for o := range m.Ops() {
			if !yield(o.Name, o.Type) {
				return
			}
		}
	}
}

// names are the operators of a graph with their types.
func names(rules *fusion.Rules) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, op := range rules.Ops {
			if !yield(op.Name, op.Op.Type) {
				return
			}
		}
	}
}

// ownShare is the part of the dumped operators, one in so many, that their graph has at
// least. Of its own dumps a graph has nearly all, that of another build most. What graphs of
// different networks share are names that compilers give, as trans_Cast_1: up to 12 % of the
// operators, measured on the graphs of ResNet-50, a transformer and a small network.
const ownShare = 4

// Belongs tells whether dumps can be of a graph with operators of these names and types; if not,
// the error is a [*StrangeGraphError]. It returns the dumped operators that the graph does not
// have, or has as another type: networks of one framework count their operators alike.
// Of arrays it tells nothing: they are not named as kernels are.
func Belongs(path string, dumps *dump.Folder, names iter.Seq2[string, string]) (strangers []string, err error) {
	if !dumps.Device() || len(dumps.Ops) == 0 {
		return nil, nil
	}
	own := make(map[*dump.Op]bool, len(dumps.Ops)) // of those it has, those that are of its type
	for name, typ := range names {
		if found := dumps.Op(name); found != nil {
			made := found.Newest().Name.OpType
			own[found] = own[found] || typ == "" || made == "" || typ == made
		}
	}
	if ownShare*len(own) < len(dumps.Ops) {
		return nil, &StrangeGraphError{Graph: path, Known: len(own), Of: len(dumps.Ops)}
	}
	for _, op := range dumps.Ops {
		if !own[op] {
			strangers = append(strangers, op.Key)
		}
	}
	return strangers, nil
}

// mostMissing bounds how many operators are told of that a graph lacks.
const mostMissing = 100

// Table is that of the folders, with how their pairs were found.
func (s *Session) Table() *result.Table {
	t := s.Folders.Table()
	if s.arrays != nil {
		t.Ops = s.arrays.ops()
	}
	s.lines(t.Ops)
	m := &t.Meta
	m.Left.Recording, m.Left.Others = s.Left.Recording, s.Left.Others
	m.Right.Recording, m.Right.Others = s.Right.Recording, s.Right.Others
	m.Graph, m.GraphHow = s.Graph, s.GraphHow
	m.Pairing.Why, m.Pairing.Covered = s.Notes, s.Covered
	m.Warnings = texts(s.Warnings)
	for _, w := range s.Warnings {
		if strange := (*StrangersWarning)(nil); errors.As(w, &strange) {
			m.Strangers, m.Dumped, m.Strange = strange.Strangers, strange.Of, strange.Some
		}
	}
	for _, side := range []*dump.Folder{s.Folders.Left, s.Folders.Right} {
		for _, d := range side.Damaged {
			m.Damaged = append(m.Damaged, result.Damage{Name: filepath.Base(d.File), File: d.File, Offset: d.Offset, Reason: result.Because(result.Text, d.What)})
		}
	}
	if rules := s.Folders.Rules; rules != nil {
		for _, e := range rules.Missing(mostMissing) {
			text := fmt.Sprintf("%s: found the input %s of %s, expected an operator %s", rules.Path, e.Input, e.Of, e.Name)
			m.Damaged = append(m.Damaged, result.Damage{Name: e.Name, File: rules.Path, Offset: -1, Reason: result.Because(result.Text, text)})
		}
	}
	return t
}

// lines gives operators the lines of the program that made them, where a side knows these.
func (s *Session) lines(ops []result.Operator) {
	for _, side := range []*dump.Folder{s.Folders.Right, s.Folders.Left} {
		for i := range ops {
			of := func(name string) { ops[i].Lines = cmp.Or(ops[i].Lines, strings.Join(side.Lines(name), "\n")) }
			for _, name := range ops[i].Framework {
				of(name)
			}
			of(ops[i].Name)
		}
	}
}

// Groups are those of the folders.
func (s *Session) Groups() []Group {
	if s.arrays != nil {
		return s.arrays.groups()
	}
	return s.Folders.Groups()
}

func (s *Session) Revision() func([]result.Row) { return s.Folders.Revision() }

// Run compares the sides; see [Run].
func (s *Session) Run(ctx context.Context, emit ...func(*result.Row) error) (*Outcome, error) {
	return Run(ctx, s, s.Folders.Options, emit...)
}

// choosePairing decides between the graph and names: the way that covers more
// operators wins. Names are what two runs on devices have in common, as the graph
// leads to the framework's operators; against arrays a graph that was named must
// be beaten clearly, as some operators share the name of another one's tensor.
func (s *Session) choosePairing(given bool) {
	o := &s.Folders
	if o.Rules == nil {
		return
	}
	n := o.covered()
	s.Covered = n
	graph, names := n[result.ByGraph], n[result.ByName]
	switch {
	case !o.Left.Device():
		return // operators of a quantised framework model are not named as arrays are
	case given && o.dialect().obeys:
		return // the old tool does as it is told
	case !given || o.Right.Device() && !s.unfused:
		o.ByName = names > graph
	default:
		o.ByName = names > 2*graph
	}
	switch {
	case o.ByName && given:
		s.Notes = append(s.Notes, result.Because(result.PairedByName, count(names), count(graph)))
	case !o.ByName && names > 2*graph:
		s.Notes = append(s.Notes, result.Because(result.PairedByGraph, count(graph), count(names)))
	}
}

// covered counts the operators of the left side whose outputs have a partner on
// the right, for either way of pairing. No file is opened for it.
func (o *Folders) covered() map[result.How]int {
	e := newEngine(o)
	n := map[result.How]int{}
	arrays := arrayNames(o.Right)
	for _, op := range o.Left.Ops {
		if o.Right.Device() && o.Right.Op(op.Key) != nil || arrays[op.Key] {
			n[result.ByName]++
		}
	}
	if o.Rules == nil {
		return n
	}
	for _, op := range o.Rules.Ops {
		if e.leftFiles(op.Name) != nil && e.hasPartner(op) {
			n[result.ByGraph]++
		}
	}
	return n
}

// hasPartner tells whether an output of an operator stands for a tensor of the
// right side.
func (e *engine) hasPartner(op *fusion.Op) bool {
	if op.Filtered || quantiser(op) || len(op.Group.Ops) > 1 && op.Inner() {
		return false
	}
	for i := range max(1, len(op.Op.OutputDesc)) {
		if ref, err := e.opt.Rules.GoldenOutput(op, i); err == nil && e.rightFiles(ref) != nil {
			return true
		}
	}
	return false
}
