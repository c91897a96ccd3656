package repl

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"precision/console"
	"precision/internal/order"
	"precision/internal/plainfile"
	"precision/repl/capture"
	"precision/repl/workspace"
)

// most is how many suggestions are made. The line editor measures all of them
// at every key.
const most = 100

// vocabulary holds the names that completion knows. It is filled in the
// background, so that the prompt is there at once; until then there are none.
type vocabulary struct {
	state                               int // of the folders the names are from
	loading                             sync.Mutex
	ops, types, passes, graphs, tensors atomic.Pointer[wordList]
}

// wordList is a sorted list of words with descriptions.
type wordList []console.Suggestion

func newVocabulary() *vocabulary { return &vocabulary{} }

// follow fills the vocabulary in the background, again when graphs or dumps have
// come since. Until then it knows what it knew.
func (v *vocabulary) follow(s *session) {
	state := s.data.State()
	if state == v.state {
		return
	}
	v.state = state
	go v.load(slices.Clone(s.data.IDs()), s.data)
}

// load reads graphs and lists dumps. What fails has no names; the commands
// that need it say why.
func (v *vocabulary) load(ids []*workspace.DebugID, data *workspace.Workspace) {
	v.loading.Lock() // one after the other: the last one's names stay
	defer v.loading.Unlock()
	defer func() { recover() }() // completion is no reason to end a session
	ops, types, passes, graphs, tensors := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for _, id := range ids {
		for _, f := range id.Graphs().Files {
			for _, g := range f.Index.Model.Graphs {
				graphs[g.Name] = id.Name
			}
			for _, op := range f.Index.Ops {
				ops[op.Name] = op.Type
				types[op.Type] = ""
				for _, p := range append(op.Passes(), op.UBPasses()...) {
					passes[p] = ""
				}
			}
		}
	}
	v.ops.Store(sortWords(ops))
	v.types.Store(sortWords(types))
	v.passes.Store(sortWords(passes))
	v.graphs.Store(sortWords(graphs))
	for _, id := range ids {
		for _, l := range id.Dumps().Leaves {
			for _, op := range l.Folder().Ops {
				for i := range op.Files {
					tensors[op.Files[i].Name.File] = id.Name
				}
			}
		}
	}
	if g := data.GoldenArrays(); g != nil {
		for _, op := range g.Ops {
			for i := range op.Files {
				tensors[op.Files[i].Name.File] = "golden"
			}
		}
	}
	for _, d := range data.H5Sides() {
		for i := range d.Tensors {
			tensors[d.Tensors[i].Path] += d.Name + " "
			tensors[d.Array(&d.Tensors[i])] = d.Name
		}
	}
	v.tensors.Store(sortWords(tensors))
}

func sortWords(m map[string]string) *wordList {
	list := make(wordList, 0, len(m))
	for name, what := range m {
		if name != "" {
			list = append(list, console.Suggestion{Text: name, Description: what})
		}
	}
	order.Stable(list, func(a, b console.Suggestion) int { return strings.Compare(a.Text, b.Text) })
	return &list
}

// find returns words that begin with text, then words that contain it.
func (l *wordList) find(text string) []console.Suggestion {
	if l == nil {
		return nil
	}
	list := *l
	first := sort.Search(len(list), func(i int) bool { return list[i].Text >= text })
	end := first
	for end < len(list) && end-first < most && strings.HasPrefix(list[end].Text, text) {
		end++
	}
	found := slices.Clone(list[first:end])
	if len(text) < 2 {
		return found
	}
	for i := range list {
		if len(found) >= most {
			break
		}
		if strings.Contains(list[i].Text, text) && !strings.HasPrefix(list[i].Text, text) {
			found = append(found, list[i])
		}
	}
	return found
}

// completer suggests what can come next on a line.
type completer struct {
	session *session
	words   *vocabulary
}

// complete returns suggestions for the last word of the text before the cursor.
func (c *completer) complete(line string) (found []console.Suggestion) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	return c.suggest(line)
}

// suggest is complete where a panic is one.
func (c *completer) suggest(line string) []console.Suggestion {
	if parts := console.Commands(line); len(parts) > 1 {
		line = strings.TrimLeft(parts[len(parts)-1], " ")
	}
	before, typed := console.LastWord(line)
	words, _ := console.Words(before)
	word := console.PlainWord(typed)
	if len(words) == 0 {
		if strings.TrimSpace(line) == "" {
			return nil // an empty line needs no list
		}
		return c.commands(word)
	}
	special := console.LineSpecial
	if cmd, ok := findCommand(words[0]); !ok && words[0] != "help" && words[0] != "?" && c.session.more(words[0]) == nil || ok && cmd.line {
		special = console.SystemSpecial
	}
	return console.Quoted(c.behind(words, word), typed, special)
}

// behind suggests the next word behind those of a line, of which the beginning is
// there.
func (c *completer) behind(words []string, word string) []console.Suggestion {
	if words[0] == "help" || words[0] == "?" {
		return c.commands(word)
	}
	cmd, ok := findCommand(words[0])
	if more := c.session.more(words[0]); !ok && more != nil && strings.HasPrefix(word, "-") {
		var found []console.Suggestion
		for _, w := range more.Complete(append([]string{more.Name}, words[1:]...), word) {
			found = append(found, console.Suggestion{Text: w.Name, Description: w.Brief})
		}
		return found
	}
	if !ok || cmd.line {
		return files(word)
	}
	o := newOptions(cmd.name)
	cmd.make(c.session).define(o)
	if strings.HasPrefix(word, "-") {
		return c.options(o, word)
	}
	return c.values(cmd, o, words[1:], word)
}

// patience is how long completion in a system shell waits for the names of a data
// folder: what is slower is no help.
const patience = 3 * time.Second

// Complete suggests what can come behind the words of a command of the shell, for
// completion in a system shell: the beginning word is there already. The first
// word is the command.
func Complete(cfg Config, words []string, word string) (list []Info) {
	cfg.Stdout, cfg.Stderr = io.Discard, io.Discard
	s := open(cfg)
	c := &completer{s, newVocabulary()}
	read := make(chan bool, 1)
	go func() {
		c.words.load(s.data.IDs(), s.data)
		read <- true
	}()
	if !strings.HasPrefix(word, "-") {
		select {
		case <-read:
		case <-time.After(patience):
		}
	}
	for _, f := range c.behind(words, word) {
		list = append(list, Info{f.Text, f.Description})
	}
	return list
}

func (c *completer) commands(word string) (found []console.Suggestion) {
	add := func(name, brief string) {
		if strings.HasPrefix(name, word) {
			found = append(found, console.Suggestion{Text: name, Description: brief})
		}
	}
	for _, cmd := range listed() {
		add(cmd.name, cmd.brief(c.session.Lang))
	}
	for i := range c.session.cfg.More {
		if m := &c.session.cfg.More[i]; !slices.ContainsFunc(found, func(x console.Suggestion) bool { return x.Text == m.Name }) {
			add(m.Name, m.Brief)
		}
	}
	add("help", c.session.T("help.brief"))
	add("exit", c.session.T("exit.brief"))
	return found
}

func (c *completer) options(o *options, word string) (found []console.Suggestion) {
	for _, op := range o.list {
		text := "-" + op.short
		if strings.HasPrefix(word, "--") {
			text = "--" + op.long
		}
		if strings.HasPrefix(text, word) {
			found = append(found, console.Suggestion{Text: text, Description: c.session.T(op.help)})
		}
	}
	return found
}

// values suggests the value of the option in front, of the name that a command
// begins with, or another word.
func (c *completer) values(cmd *command, o *options, before []string, word string) []console.Suggestion {
	complete, flag := cmd.words, ""
	if n := len(before); n > 0 && strings.HasPrefix(before[n-1], "-") {
		flag = strings.TrimLeft(before[n-1], "-")
	}
	for _, op := range o.list {
		if op.value && flag != "" && (flag == op.short || flag == op.long) {
			complete = op.complete
			break
		}
		if cmd.named && op.long == "name" {
			complete = op.complete
		}
	}
	if complete == nil {
		return nil
	}
	return complete(c, word)
}

// completion suggests words that begin with word, or contain it. Commands name one
// for each of their options that takes a value.
type completion func(c *completer, word string) []console.Suggestion

func operators(c *completer, word string) []console.Suggestion { return c.words.ops.Load().find(word) }
func types(c *completer, word string) []console.Suggestion     { return c.words.types.Load().find(word) }
func passes(c *completer, word string) []console.Suggestion    { return c.words.passes.Load().find(word) }
func graphs(c *completer, word string) []console.Suggestion    { return c.words.graphs.Load().find(word) }

// tensors suggests what pt, cp and dc take: tensors, operators and files.
func tensors(c *completer, word string) []console.Suggestion {
	found := append(c.words.tensors.Load().find(word), operators(c, word)...)
	if word != "" {
		found = append(found, files(word)...)
	}
	return found[:min(len(found), most)]
}

// paths suggests files and folders.
func paths(_ *completer, word string) []console.Suggestion { return files(word) }

// oneOf suggests one of a few words.
func oneOf(words ...string) completion {
	return func(_ *completer, word string) []console.Suggestion { return pick(word, words...) }
}

// actions suggests an action behind those that are there.
func actions(_ *completer, word string) []console.Suggestion {
	before := word[:strings.LastIndexByte(word, '|')+1]
	found := pick(word[len(before):], capture.Actions...)
	for i := range found {
		found[i].Text = before + found[i].Text
	}
	return found
}

func pick(word string, from ...string) (found []console.Suggestion) {
	for _, f := range from {
		if strings.HasPrefix(f, word) {
			found = append(found, console.Suggestion{Text: f})
		}
	}
	return found
}

// files suggests the files of the folder that a word begins with.
func files(word string) (found []console.Suggestion) {
	dir, base := filepath.Split(word)
	from := cmp.Or(dir, ".")
	f, err := os.Open(from)
	if err != nil {
		return nil
	}
	defer f.Close()
	// A folder can hold a hundred thousand dumps; the first of them will do.
	list, _ := f.ReadDir(5000)
	order.Stable(list, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), base) || strings.HasPrefix(e.Name(), ".") && base == "" || strings.ContainsFunc(e.Name(), unicode.IsControl) {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() || e.Type()&os.ModeSymlink != 0 && plainfile.IsFolder(name) {
			name += "/"
		}
		found = append(found, console.Suggestion{Text: name})
		if len(found) == most {
			break
		}
	}
	return found
}
