package graph

import "strings"

// CastRule says what to think of casts from one element type to another. What a cast of the
// default rules can do is said by package describe.
type CastRule struct {
	From, To string // "DT_FLOAT"; "*" for any, "INT*" for any integer
	Level    Level
}

// Level is how much a finding matters.
type Level uint8

const (
	LevelInfo Level = iota
	LevelWarning
	LevelDanger
)

func (l Level) String() string { return [...]string{"info", "warning", "danger"}[min(l, LevelDanger)] }

// DefaultCastRules are the casts that can cost precision. The first rule that fits a cast counts.
var DefaultCastRules = []CastRule{
	{"DT_FLOAT", "INT*", LevelDanger},
	{"DT_FLOAT16", "INT*", LevelDanger},
	{"DT_BF16", "INT*", LevelDanger},
	{"DT_DOUBLE", "INT*", LevelDanger},
	{"DT_INT64", "DT_INT32", LevelWarning},
	{"DT_UINT64", "DT_UINT32", LevelWarning},
	{"DT_DOUBLE", "DT_FLOAT", LevelWarning},
	{"DT_DOUBLE", "DT_FLOAT16", LevelWarning},
	{"DT_FLOAT", "DT_FLOAT16", LevelInfo},
	{"DT_FLOAT", "DT_BF16", LevelInfo},
}

func typeMatches(pattern, t string) bool {
	switch pattern {
	case "*":
		return true
	case "INT*":
		return strings.HasPrefix(t, "DT_INT") || strings.HasPrefix(t, "DT_UINT")
	}
	return pattern == t
}

// Casts are the Cast operators of a model between two element types.
type Casts struct {
	From, To string
	Rule     *CastRule // nil when none fits
	Ops      []*Op     // file order
}

// Level returns how much these casts matter, LevelInfo without a rule.
func (c *Casts) Level() Level {
	if c.Rule == nil {
		return LevelInfo
	}
	return c.Rule.Level
}

// CastTypes returns the element types an operator converts between: those of the last input and output that have one.
// Where the descriptors do not tell, the operator's own attributes may.
func CastTypes(o *Op) (from, to string) {
	for i := range o.InputDesc {
		if t := o.InputDesc[i].DType; t != "" {
			from = t
		}
	}
	for i := range o.OutputDesc {
		if t := o.OutputDesc[i].DType; t != "" {
			to = t
		}
	}
	if from == "" {
		if n, ok := o.Attr("SrcT").Int(); ok {
			from = GEDTypeName(n)
		}
	}
	if to == "" {
		for _, key := range [...]string{"dst_type", "DstT"} {
			if n, ok := o.Attr(key).Int(); ok {
				to = GEDTypeName(n)
				break
			}
		}
	}
	return from, to
}

// Casts groups the Cast operators of all graphs by their types, in first-seen order, and judges them by rules.
func (m *Model) Casts(rules []CastRule) (out []*Casts) {
	at := map[[2]string]*Casts{}
	for _, g := range m.Graphs {
		for _, o := range g.Ops {
			if o.Type != "Cast" {
				continue
			}
			from, to := CastTypes(o)
			c := at[[2]string{from, to}]
			if c == nil {
				c = &Casts{From: from, To: to}
				for i := range rules {
					if typeMatches(rules[i].From, from) && typeMatches(rules[i].To, to) {
						c.Rule = &rules[i]
						break
					}
				}
				at[[2]string{from, to}] = c
				out = append(out, c)
			}
			c.Ops = append(c.Ops, o)
		}
	}
	return out
}
