package msprobe

import (
	"strconv"
	"strings"

	"precision/dump"
)

// Form is what sort of entry a name tells.
type Form uint8

// The forms of names.
const (
	Other          Form = iota // a name of no known form
	API                        // Functional.linear.0.forward
	Module                     // Module.layers.0.Block.forward.0
	ParametersGrad             // Module.fc.Linear.parameters_grad.0
	Debug                      // hidden.0.debug
)

// Direction tells forward from backward calls.
type Direction uint8

// The directions. Entries that are no calls have none.
const (
	NoDirection Direction = iota
	Forward
	Backward
)

func (d Direction) String() string {
	return [...]string{"", "forward", "backward"}[d]
}

// Name is the parsed name of an entry.
type Name struct {
	Form Form
	// Prefix is the part before the first point: Functional, Torch, NPU,
	// Module, Cell.
	Prefix string
	// API is the function, with any points it has (add.Tensor, fft.fft); for
	// modules it is the path of attributes (layers.0.attn), and for debug
	// entries the name that was given.
	API string
	// Class is that of a module.
	Class string
	// Number counts calls of the same prefix and API, or of the same module,
	// from 0; gradient computations for parameters.
	Number    int
	Direction Direction
}

// ParseName reads the name of an entry, from its right end: paths and functions
// have points and digits of their own.
func ParseName(s string) Name {
	rest, last, ok := cutLast(s)
	if !ok {
		return Name{API: s}
	}
	head, before, _ := cutLast(rest)
	if n, ok := direction(last); ok { // API
		if number, ok := count(before); ok && head != "" {
			prefix, api, two := strings.Cut(head, ".")
			if two {
				return Name{Form: API, Prefix: prefix, API: api, Number: number, Direction: n}
			}
		}
		return Name{API: s}
	}
	if last == "debug" {
		if number, ok := count(before); ok && head != "" {
			return Name{Form: Debug, API: head, Number: number}
		}
		return Name{API: s}
	}
	number, ok := count(last)
	if !ok || head == "" {
		return Name{API: s}
	}
	d, isCall := direction(before)
	if !isCall && before != "parameters_grad" {
		return Name{API: s}
	}
	n := Name{Form: Module, Number: number, Direction: d}
	if !isCall {
		n.Form = ParametersGrad
	}
	path, class, _ := cutLast(head)
	n.Class = class
	n.Prefix, n.API, _ = strings.Cut(path, ".")
	return n
}

// String is the inverse of [ParseName] for names of a known form.
func (n Name) String() string {
	number := strconv.Itoa(n.Number)
	parts := []string{n.API}
	switch n.Form {
	case API:
		parts = []string{n.Prefix, n.API, number, n.Direction.String()}
	case Module:
		parts = []string{n.Prefix, n.API, n.Class, n.Direction.String(), number}
	case ParametersGrad:
		parts = []string{n.Prefix, n.API, n.Class, "parameters_grad", number}
	case Debug:
		parts = []string{n.API, number, "debug"}
	}
	s := ""
	for _, p := range parts {
		if p != "" && s != "" {
			s += "."
		}
		s += p
	}
	return s
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func direction(s string) (Direction, bool) {
	switch s {
	case "forward":
		return Forward, true
	case "backward":
		return Backward, true
	}
	return NoDirection, false
}

func count(s string) (int, bool) {
	n, ok := dump.Small(s)
	return n, ok && (s[0] != '0' || len(s) == 1)
}

// BackwardNumbers are the numbers that backward calls of modules have by their forward calls, by their places among the names of all calls in
// their order, where a recorder numbered them otherwise: those of version 1 count them as they come, which is from the last forward call of a module
// to its first. Then all modules that are called several times have theirs in ascending order, and by their forward calls none.
func BackwardNumbers(names []Name) map[int]int {
	type uses struct {
		forward int
		back    []int // places
	}
	modules := map[string]*uses{}
	for i, n := range names {
		if n.Form != Module {
			continue
		}
		path := n.API + "." + n.Class
		of := modules[path]
		if of == nil {
			of = &uses{}
			modules[path] = of
		}
		if n.Direction == Forward {
			of.forward++
		} else {
			of.back = append(of.back, i)
		}
	}
	numbers := map[int]int{}
	for _, of := range modules {
		if of.forward < 2 || len(of.back) != of.forward {
			continue
		}
		for i, at := range of.back {
			if names[at].Number != i {
				return nil
			}
			if number := of.forward - 1 - i; number != i {
				numbers[at] = number
			}
		}
	}
	return numbers
}
