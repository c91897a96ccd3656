package op

import (
	"cmp"
	"fmt"
	"math"
	"precision/internal/must"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// entry is a line of the catalogue, whose traits are read when they are asked for: a program asks for a tenth of them.
type entry struct {
	names  []string
	traits string
	line   int
	once   sync.Once
	row    *Row
	err    error
}

// parse finds rows by their names: names | traits, with # for comments. An error names the line.
func parse(text string) (map[string]*entry, error) {
	byName, i := make(map[string]*entry, strings.Count(text, "|")*2), 0
	for line := range strings.Lines(text) {
		i++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		names, rest, _ := strings.Cut(line, "|")
		e := &entry{names: strings.Fields(names), traits: rest, line: i}
		for _, name := range e.names {
			if same := byName[name]; same != nil {
				return nil, fmt.Errorf("line %d: %s is in line %d, too", i, name, same.line)
			}
			byName[name] = e
		}
	}
	return byName, nil
}

// read reads the traits.
func (e *entry) read() (*Row, error) {
	e.once.Do(func() {
		e.row = &Row{Names: e.names, Chosen: None}
		for _, word := range strings.Fields(e.traits) {
			if err := e.row.set(word); err != nil {
				e.row, e.err = nil, fmt.Errorf("line %d: %w", e.line, err)
				return
			}
		}
		if e.row.Formula.Kinked() {
			e.row.Traits |= Kinked
		}
	})
	return e.row, e.err
}

// A word is a flag, f(parameters)=expression, or key=value; what is none of these is an error, so that a slip of the
// pen does not pass for a trait.
func (r *Row) set(word string) (err error) {
	key, value, has := strings.Cut(word, "=")
	if t := traits[word]; t != 0 {
		r.Traits |= t
		return nil
	}
	if rest, is := strings.CutPrefix(word, "f("); is {
		r.Formula, err = Read(rest)
		return err
	}
	switch {
	case r.text(key) != nil && value != "":
		*r.text(key) = value
	case key == "indices" && has:
		r.Indices, err = numbers(value)
	case key == "weights" && has:
		r.Weights, err = numbers(value)
	case key == "updates" && has:
		r.Updates, err = numbers(value)
	case key == "near" && has:
		r.Rounded = true
		r.Near, err = strconv.ParseFloat(value, 64)
	case key == "range" && has:
		lo, hi, _ := strings.Cut(value, ",")
		if r.Range[0], err = strconv.ParseFloat(lo, 64); err == nil {
			r.Range[1], err = strconv.ParseFloat(hi, 64)
		}
	case key == "within" && has:
		r.Within = value
	case key == "low" && has:
		r.Ends = true
		r.Low, err = strconv.ParseFloat(value, 64)
	case key == "back" && has && r.Formula != nil:
		params := "x,y,g"
		for _, p := range r.Formula.Params {
			if p.Number {
				params += "," + p.Name + ":0"
			}
		}
		r.Back, err = Read(params + ")=" + value)
	case (key == "call" || key == "Functional" || key == "Torch" || key == "Aten") && has:
		if r.Calls == nil {
			r.Calls = map[string]*Signature{}
		}
		if key == "call" {
			key = ""
		}
		r.Calls[key], err = signature(value)
	case (key == "mindspore" || key == "mindspore.Tensor") && has:
		if r.MindSpore == nil {
			r.MindSpore = map[string]*Signature{}
		}
		space := strings.TrimPrefix(strings.TrimPrefix(key, "mindspore"), ".")
		if r.MindSpore[space] = (&Signature{Form: value}); strings.Contains(value, "(") {
			r.MindSpore[space], err = signature(value)
		}
	case key == "absent" && has:
		r.Absent = map[string]float64{}
		for _, word := range strings.Split(value, ",") {
			name, number, _ := strings.Cut(word, ":")
			if number == "rsqrt" {
				r.Absent[name] = math.NaN()
			} else if r.Absent[name], err = strconv.ParseFloat(number, 64); err != nil {
				return err
			}
		}
	case key == "pairs" && value != "":
		r.Pairs = append(r.Pairs, strings.Split(value, ","))
	case key == "steps" && value != "":
		r.Steps = strings.Split(value, ";")
	case key == "module" && has:
		r.Module, err = signature(value)
	case key == "as" && has:
		r.As, err = binding(value)
	case key == "results" && r.As != nil:
		r.As.Results, err = numbers(value)
	case key == "chooses":
		r.Chosen = -1
		if has {
			r.Chosen, err = strconv.Atoi(value)
		}
	default:
		err = fmt.Errorf("%q is no trait", word)
	}
	return err
}

// Parameter is the name of the parameter of a call of PyTorch at a place as msprobe writes it (input.3, kwargs.dim.0), in a
// namespace (Functional); empty where it is not known.
func (r *Row) Parameter(space, place string) string {
	section, name, _ := strings.Cut(place, ".")
	name, _, _ = strings.Cut(name, ".") // of a list that is given
	if section == "kwargs" {
		return name
	}
	i, err := strconv.Atoi(name)
	if s := cmp.Or(r.Calls[space], r.Calls[""]); err == nil && s != nil && (i < len(s.Params) || s.Rest) {
		return s.Params[min(i, len(s.Params)-1)]
	}
	if err == nil && r.Formula != nil && i < len(r.Formula.Params) {
		return r.Formula.Params[i].Name
	}
	return ""
}

// Default is the number that a parameter is where a call of PyTorch does not give it. Last is the size of the last axis of the
// first argument.
func (r *Row) Default(name string, last int64) (float64, bool) {
	if r.Formula != nil {
		for _, p := range r.Formula.Params {
			if p.Number && len(p.Words) == 0 && p.Name == name {
				return p.Default, true
			}
		}
	}
	v, ok := r.Absent[name]
	if v != v {
		return 1 / math.Sqrt(float64(last)), last > 0
	}
	return v, ok
}

// text is where the word of a trait goes, nil for traits of another sort.
// Traits whose value is one word, which their readers interpret.
func (r *Row) text(trait string) *string {
	switch trait {
	case "does":
		return &r.Does
	case "error":
		return &r.Error
	case "law":
		return &r.Law
	case "summands":
		return &r.Summands
	case "domain":
		return &r.Domain
	case "overflow":
		return &r.Overflow
	case "spread":
		return &r.Spread
	case "kernel":
		return &r.Kernel
	case "choice":
		return &r.Choice
	}
	return nil
}

func numbers(list string) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Call splits a value such as summed(0.25) into its word and its argument, 0 without one.
func Call(value string) (word string, argument float64) {
	word, rest, called := strings.Cut(value, "(")
	if !called {
		return word, 0
	}
	argument, _ = strconv.ParseFloat(strings.TrimSuffix(rest, ")"), 64)
	return word, argument
}

// Signature is how a function is called.
type Signature struct {
	// Form is what the engine computes it by.
	Form string
	// Params are its parameters in the order of its definition. With Rest the last one takes the rest of the
	// positional arguments, or a list.
	Params []string
	Rest   bool
	// Named are parameters behind the rest, which are given by name.
	Named []string
	// Hidden are attributes that are not recorded; those with a value are in Defaults.
	Hidden []string
	// Others are parameters by other names that they are given by.
	Others map[string]string
	// Defaults are what parameters are that are not given, where that is not what the form takes.
	Defaults map[string]string
}

// signature reads form(parameter,parameter/other name:default,*rest;hidden,fixed:value), where form'parameter'parameter are the
// gradients of parameters of a function.
func signature(text string) (*Signature, error) {
	form, list, _ := strings.Cut(text, "(")
	list, ok := strings.CutSuffix(list, ")")
	if form == "" || !ok {
		return nil, fmt.Errorf("%q is no form with parameters", text)
	}
	list, hidden, has := strings.Cut(list, ";")
	s := &Signature{Form: form, Params: strings.Split(list, ",")}
	for _, word := range strings.Split(hidden, ",") {
		name, value, fixed := strings.Cut(word, ":")
		switch {
		case fixed:
			if s.Defaults == nil {
				s.Defaults = map[string]string{}
			}
			s.Defaults[name] = value
		case has:
			s.Hidden = append(s.Hidden, name)
		}
	}
	if list == "" {
		s.Params = nil
		return s, nil
	}
	// parameter/other/other:default, the first being the name of the form's.
	for i, p := range s.Params {
		p, missing, has := strings.Cut(p, ":")
		names := strings.Split(p, "/")
		s.Params[i] = names[0]
		if has {
			if s.Defaults == nil {
				s.Defaults = map[string]string{}
			}
			s.Defaults[strings.TrimPrefix(names[0], "*")] = missing
		}
		for _, other := range names[1:] {
			if s.Others == nil {
				s.Others = map[string]string{}
			}
			s.Others[other] = strings.TrimPrefix(names[0], "*")
		}
	}
	if at := slices.IndexFunc(s.Params, func(p string) bool { return p[:min(1, len(p))] == "*" }); at >= 0 {
		s.Params, s.Named = s.Params[:at+1], s.Params[at+1:]
	}
	last := &s.Params[len(s.Params)-1]
	*last, s.Rest = strings.CutPrefix(*last, "*")
	return s, nil
}

// Binding says which function a kernel computes, and what its parameters are in the kernel's prototype.
type Binding struct {
	Function string
	// Gradient is the parameter whose gradient the kernel computes, from the gradient of the function's result (grad) and,
	// where the gradient is made of it, the result; empty for the function itself.
	Gradient string
	Args     []Arg
	// Results are the outputs of the kernel that the function's results are, in their order; the same ones if nil.
	Results []int
}

// Arg is a parameter of a function as a kernel has it.
type Arg struct {
	// Param is the parameter; empty where Default is all that From may be, for the function knows nothing else, or an input must not
	// be there.
	Param string
	// From are the names of an attribute, or of an input, which is in place Slot; -1 if there is none, and [Rest] for a
	// list of all inputs that no other argument is.
	From []string
	Slot int
	// Many: it is a list of inputs, From0, From1, …, which begin in place Slot and move what comes behind.
	Many bool
	// Default is its value where a graph leaves it out; empty where that is the function's own, and ? where it has to be
	// given.
	Default string
	// Words are what the attribute's numbers stand for.
	Words []string
	// Turned is the attribute that says whether the input is a matrix with its axes exchanged; empty where it never is.
	Turned string
}

// Rest is the Slot of an argument that is a list of all inputs but those of other arguments.
const Rest = -2

// binding reads function(…), or function'param(…) for the gradient of a parameter, with the arguments (param=input@slot,param=attribute/attribute:default,param=attribute{word/word},param=input@slot~attribute of a matrix
// that may be turned,attribute!value,input@slot! of one that must not be there,
// param=input*@slot of inputs that are numbered).
func binding(text string) (_ *Binding, err error) {
	defer must.Catch(&err)
	name, rest, _ := strings.Cut(text, "(")
	b := &Binding{}
	b.Function, b.Gradient, _ = strings.Cut(name, "'")
	list, ok := strings.CutSuffix(rest, ")")
	must.Not(name == "" || !ok, "%q is no function with arguments", text)
	for _, word := range strings.Split(list, ",") {
		a := Arg{Slot: -1}
		if from, only, fixed := strings.Cut(word, "!"); fixed {
			name, slot, input := strings.Cut(from, "@")
			if a.From, a.Default = []string{name}, only; input {
				a.Slot = must.Get(strconv.Atoi(slot))
			}
			b.Args = append(b.Args, a)
			continue
		}
		param, from, ok := strings.Cut(word, "=")
		must.Not(!ok || param == "" || from == "", "%q binds no parameter", word)
		a.Param = param
		from, a.Turned, _ = strings.Cut(from, "~")
		from, a.Default, _ = strings.Cut(from, ":")
		if name, words, ok := strings.Cut(from, "{"); ok {
			from, a.Words = name, strings.Split(strings.TrimSuffix(words, "}"), "/")
		}
		// @* takes all inputs that no other argument names, @n the input in place n.
		if name, rest := strings.CutSuffix(from, "@*"); rest {
			from, a.Slot = name, Rest
		} else if name, slot, ok := strings.Cut(from, "@"); ok {
			n := must.Get(strconv.Atoi(slot))
			from, a.Many = strings.CutSuffix(name, "*")
			a.Slot = n
		}
		a.From = strings.Split(from, "/")
		b.Args = append(b.Args, a)
	}
	return b, nil
}
