package dump

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump/tfdbg"
	"precision/internal/order"
)

// Options of [Scan]. The zero value is for folders that are compared by the
// names of operators.
type Options struct {
	// Rules means that a fusion rule file says which operators there are.
	// Names of slices are then reduced to the operator's wherever they occur.
	Rules bool
	// Slices keeps the slices of FFTS+ apart, as operators of their own.
	Slices bool
	// Plain takes arrays of any name: name.npy and name.index.npy are outputs of
	// an operator of that name, without a time. Two folders of arrays that a
	// program saved by itself are compared so.
	Plain bool
	// Listing is what os.ReadDir gives of the folder, if the caller knows that;
	// nil lists it.
	Listing []fs.DirEntry
}

// Folder is what one folder of recordings holds, without the folders in it.
type Folder struct {
	Dir string
	// Kind is Offline, Standard or Quant. If files of several kinds are there,
	// it is that of most files.
	Kind Kind
	// Numpy tells that the recordings are numpy arrays.
	Numpy bool
	// Quantised tells that some operator quantises or undoes it, by its name.
	// It decides whether arrays are Standard or Quant; see [Folder.SetQuantised].
	Quantised bool
	// Ops holds the operators by key, and of arrays their outputs.
	Ops []*Op
	// Debug holds the overflow records, oldest first.
	Debug []Entry
	// Mixture is not nil if there are files of several kinds. Those of Kind
	// are in Ops, the others are not. msaccucmp.py refuses such a folder.
	Mixture *Error
	// Warnings tell which files were passed over, in the order of their names.
	Warnings []Warning
	// Damaged are places in files of many recordings, or of what a graph is, that are not what was written: what stands
	// behind them is not read. Warnings tell them, too.
	Damaged []tfdbg.Damage

	byKey map[string]*Op
	lines func(op string) []string // of the program that made an operator
	made  func(op string) (typ string, inputs []Port)
}

// Op is an operator that was recorded, or, for arrays and golden dumps, one of
// its outputs.
type Op struct {
	// Key is the operator's name with underscores for separators. Outputs have
	// a dot and their index after it.
	Key string
	// Slicing tells how FFTS+ cut the operator: if it did, every file is a
	// slice, else every file is a recording of the whole.
	Slicing Slicing
	// Files are sorted by time, slices of the same time by thread or number,
	// and then by name. There is at least one.
	Files []Entry
}

// Newest is the latest recording.
func (o *Op) Newest() *Entry { return &o.Files[len(o.Files)-1] }

// Entry is a file that was found.
type Entry struct {
	Path string
	// Name is the real name, even if the file was renamed.
	Name Name

	trace *tfdbg.Trace // of a file that holds other recordings, too
}

// Open opens the recording under its real name; see [OpenFile].
func (e *Entry) Open() (*Reader, error) {
	if e.trace != nil {
		return openTrace(e)
	}
	return openAs(e.Path, e.Name)
}

// Alone tells whether the file holds nothing else.
func (e *Entry) Alone() bool { return e.trace == nil }

// notDumps are files that tools leave in folders of dumps.
var notDumps = []string{MappingFile, "convert_failed_file_list.txt"}

// Scan lists the recordings in a folder. The order of the result does not
// depend on that of the folder. The error is an [*Error]: the folder is
// missing, cannot be read, is not a folder, or has no recordings. With nothing
// but overflow records in it, it is returned along with the error.
func Scan(dir string, o Options) (*Folder, error) {
	files, err := readDir(dir, o.Listing)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, byKey: map[string]*Op{}}
	if slices.ContainsFunc(files, func(e fs.DirEntry) bool { return tfdbg.Is(e.Name()) }) {
		return f.debugger(files)
	}
	if files, err = f.recorded(files); err != nil {
		return nil, err
	}
	var mapping Mapping
	if slices.ContainsFunc(files, func(e fs.DirEntry) bool { return e.Name() == MappingFile }) {
		mapping, f.Warnings = ReadMapping(dir)
	}
	found := f.classify(files, mapping, o)
	sortEntries(f.Debug)
	switch {
	case len(found) > 0:
		f.settleKind(found)
	case len(f.Debug) > 0:
		f.Kind = Debug
		return f, errorf(dir, CodeFolder, -1, "found %d overflow records, expected dumps of operators", len(f.Debug))
	default:
		return nil, f.none(len(files))
	}
	for _, c := range found {
		if c.kind == f.kindOfFiles() {
			f.add(c)
		}
	}
	f.sort()
	f.SetQuantised(slices.ContainsFunc(f.Ops, func(op *Op) bool { return quantised(op.Key) }))
	return f, nil
}

// readDir lists the plain files of a folder by name, without a look at each; known
// is its listing, if it was made already.
func readDir(dir string, known []fs.DirEntry) ([]fs.DirEntry, error) {
	entries, err := slices.Clone(known), error(nil)
	if known == nil {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		if info, e := os.Stat(dir); e == nil && !info.IsDir() {
			return nil, errorf(dir, CodePath, -1, "not a folder")
		}
		return nil, &Error{Path: dir, Code: CodePath, Offset: -1, Err: pathCause(err)}
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			return err != nil || !info.Mode().IsRegular()
		}
		return !e.Type().IsRegular()
	}), nil
}

// candidate is a file with the kind and the key under which it is stored.
type candidate struct {
	Entry
	kind Kind
	key  string
}

// classify sorts out which files take part.
func (f *Folder) classify(files []fs.DirEntry, mapping Mapping, o Options) []candidate {
	found := make([]candidate, 0, len(files))
	for _, e := range files {
		file := e.Name()
		if slices.Contains(notDumps, file) || strings.HasSuffix(file, ".npy.txt") { // the latter is an array as text, by pt and cp
			continue
		}
		path := filepath.Join(f.Dir, file)
		file = path[len(path)-len(file):] // one text for all that is told from it
		entry := Entry{Path: path, Name: mapping.Name(file)}
		if _, known := mapping[file]; !known && hashed(file) {
			f.warnf(entry.Path, 0, "a renamed file without a line in %s, passed over", MappingFile)
			continue
		}
		if o.Plain && entry.Name.Kind == Foreign {
			entry.Name = plainName(file)
		}
		if entry.Name.Kind == Debug {
			f.Debug = append(f.Debug, entry)
			continue
		}
		c, why := classifyOne(entry, o)
		if why != "" {
			code := 0
			if entry.Name.TaskType > taskDSA {
				code = CodeTaskType
			}
			f.warnf(entry.Path, code, "passed over: %s", why)
			continue
		}
		found = append(found, c)
	}
	return found
}

// classifyOne gives a file its kind and key, or tells why it takes no part.
func classifyOne(e Entry, o Options) (c candidate, why string) {
	n := &e.Name
	c = candidate{e, n.Kind, ""}
	switch n.Kind {
	case Array, Standard, Quant:
		c.key = outputKey(n.OpName, n.Index)
		return c, ""
	case Offline, Exception:
		c.kind = Offline
	case Foreign:
		return c, n.Reason
	default:
		return c, "a file of the kind " + n.Kind.String()
	}
	if n.TaskType > taskDSA {
		return c, fmt.Sprintf("task type %d is not known, expected 0 to %d", n.TaskType, taskDSA)
	}
	if n.OpName == "" {
		return c, "the name does not tell the operator"
	}
	c.key = n.OpName
	if !o.Slices {
		var ok bool
		if c.key, ok = operator(c.key, o.Rules); !ok {
			return c, "a slice whose operator cannot be told from the name"
		}
	}
	c.key = Normalise(c.key)
	return c, ""
}

func outputKey(op string, index int64) string { return fmt.Sprintf("%s.%d", Normalise(op), index) }

// settleKind takes the kind of most files.
func (f *Folder) settleKind(found []candidate) {
	count := map[Kind]int{}
	for _, c := range found {
		count[c.kind]++
	}
	order := []Kind{Offline, Array, Standard, Quant}
	best := slices.MaxFunc(order, func(a, b Kind) int { return cmp.Compare(count[a], count[b]) })
	f.Kind, f.Numpy = best, best == Array
	if len(count) == 1 {
		return
	}
	var parts []string
	for _, k := range order {
		if count[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[k], plural(k, count[k])))
		}
	}
	f.Mixture = errorf(f.Dir, CodeFolder, -1, "found %s, expected dumps of one kind", strings.Join(parts, " and "))
	for _, c := range found {
		if c.kind != best {
			f.warnf(c.Path, CodeFolder, "passed over: a %s among %s", c.kind, plural(best, 2))
		}
	}
}

func plural(k Kind, n int) string {
	if n == 1 {
		return k.String()
	}
	return k.String() + "s"
}

// kindOfFiles is Kind before arrays are told Standard from Quant.
func (f *Folder) kindOfFiles() Kind {
	if f.Numpy {
		return Array
	}
	return f.Kind
}

// SetQuantised says whether the network of the recordings is quantised when
// names do not tell. Arrays become Quant or Standard accordingly.
func (f *Folder) SetQuantised(q bool) {
	f.Quantised = q
	switch {
	case f.Numpy && q:
		f.Kind = Quant
	case f.Numpy:
		f.Kind = Standard
	}
}

func (f *Folder) add(c candidate) {
	op := f.byKey[c.key]
	if op == nil {
		op = &Op{Key: c.key}
		f.byKey[c.key] = op
		f.Ops = append(f.Ops, op)
	} else if first := op.Files[0].Name; f.Numpy && first.OpName != c.Name.OpName {
		f.warnf(c.Path, 0, "taken for a recording of the same operator as %s", first.File)
	}
	op.Files = append(op.Files, c.Entry)
}

// sort orders operators by key and their files by time.
func (f *Folder) sort() {
	slices.SortFunc(f.Ops, func(a, b *Op) int { return cmp.Compare(a.Key, b.Key) })
	for _, op := range f.Ops {
		sortEntries(op.Files)
		for i := range op.Files {
			n := &op.Files[i].Name
			if op.Slicing == Whole {
				op.Slicing = n.Slicing()
			}
			if !n.HasTime && len(op.Files) > 1 {
				f.warnf(op.Files[i].Path, 0, "the time %d in the name has not 16 digits, the file counts as older than others of %s", n.Time, op.Key)
			}
		}
	}
	order.Stable(f.Warnings, func(a, b Warning) int { return cmp.Compare(a.Path, b.Path) })
}

// sortEntries puts the newest last. Names without a proper time come first.
// Of slices of the same time the thread, or the number, decides.
func sortEntries(files []Entry) {
	order.Stable(files, func(a, b Entry) int {
		x, y := &a.Name, &b.Name
		return cmp.Or(order.FalseFirst(x.HasTime, y.HasTime), cmp.Compare(x.Time, y.Time), cmp.Compare(x.slice(), y.slice()),
			cmp.Compare(x.File, y.File), cmp.Compare(a.Path, b.Path))
	})
}

// slice is the number of the slice in the order of merging.
func (n *Name) slice() int64 {
	switch n.Slicing() {
	case Auto:
		return n.Thread
	case Manual:
		return n.Slice
	}
	return 0
}

// Op finds the recordings of an operator among device dumps, nil if there are
// none. Separators in the name do not matter.
func (f *Folder) Op(name string) *Op {
	var room [128]byte
	return f.byKey[string(normalised(room[:0], name))]
}

// Output finds the recordings of an operator's output among arrays and golden
// dumps, nil if there are none.
func (f *Folder) Output(name string, index int) *Op { return f.byKey[outputKey(name, int64(index))] }

func (f *Folder) warnf(path string, code int, format string, args ...any) {
	f.Warnings = Warn(f.Warnings, Warnf(path, code, format, args...))
}

// none is the error for a folder without recordings.
func (f *Folder) none(files int) *Error {
	if files == 0 {
		return errorf(f.Dir, CodeFolder, -1, "there are no files in this folder, expected dumps")
	}
	e := errorf(f.Dir, CodeFolder, -1, "none of the %d files in this folder is a dump", files)
	if len(f.Warnings) > 0 {
		e.Text += "; the first is " + f.Warnings[0].String()
	}
	return e
}

// List lists a folder, in no order; one that cannot be read is empty.
func List(dir string) []fs.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil
	}
	return entries
}

// Subfolders are the folders of a listing, sorted. Links are not followed.
func Subfolders(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
