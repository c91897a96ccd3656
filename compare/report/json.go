package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/each"
	"precision/internal/msg"
)

// Schema names the form of the JSON file. Files of the form before are read, too.
const (
	Schema       = "precision/verdict/2"
	schemaBefore = "precision/verdict/1"
)

// Looks writes looks as a table's JSON has them.
func Looks(looks []result.Look) []byte {
	var b bytes.Buffer
	w := &jsonWriter{to: &b, fresh: true}
	writeRows(w, looks)
	w.flush()
	return b.Bytes()
}

// WriteJSON writes a judged table: the verdict, the roots and every operator for
// programs to read, and under "table" all that [ReadJSON] needs to give the table
// back. The same table gives the same bytes. What the members mean is in
// docs/verdict.md, their form in [JSONSchema].
//
// It is written as it is made, an operator or a column at a time.
func WriteJSON(to io.Writer, j *verdict.Judged) error {
	w := &jsonWriter{to: to, fresh: true}
	m := &j.Table.Meta
	w.open('{')
	w.member("schema", Schema)
	w.below("profile")
	w.profile(j.Profile)
	w.member("left", m.Left.Dir)
	w.member("right", m.Right.Dir)
	w.member("graph", m.Graph)
	w.member("pairing", string(m.Pairing.How))
	w.enterBelow("coverage", '{')
	w.count("expected", int64(j.Coverage.Expected))
	w.count("compared", int64(j.Coverage.Compared))
	w.count("constants", int64(j.Coverage.Constants))
	if n := j.Coverage.Statistics; n > 0 {
		w.count("statistics", int64(n))
	}
	w.close('}')
	w.member("verdict", j.Verdict.String())
	w.enterBelow("counts", '{')
	for state, n := range j.Counts {
		w.count(verdict.State(state).String(), int64(n))
	}
	w.close('}')
	w.notes(j)
	w.evidence(j)
	w.enterBelow("roots", '[')
	for i := range j.Roots {
		w.line()
		w.root(j, &j.Roots[i])
	}
	w.close(']')
	w.enterBelow("operators", '[')
	for i := range j.Operators {
		w.line()
		w.operator(j, &j.Operators[i])
	}
	w.close(']')
	w.dtypes(j.Table)
	w.below("table")
	w.table(j, nil)
	return w.end()
}

// end seals what was written.
func (w *jsonWriter) end() error {
	w.b = append(w.b, '\n')
	w.flush()
	w.b = append(w.b, seal(w.sum)...)
	w.flush()
	return w.err
}

// dtypes names the numbers that element types have in the table.
func (w *jsonWriter) dtypes(t *result.Table) {
	used := map[dtype.Type]bool{}
	for i := range t.Rows {
		for _, o := range [...]*result.Operand{&t.Rows[i].Left, &t.Rows[i].Right} {
			if o.Shape != nil {
				used[o.DType] = true
			}
		}
	}
	if len(used) == 0 {
		return
	}
	w.enterBelow("dtypes", '{')
	for _, typ := range slices.Sorted(maps.Keys(used)) {
		w.named(strconv.Itoa(int(typ)), typ.String())
	}
	w.close('}')
}

// Page is what the page of a table needs of its JSON.
type Page struct {
	// Own is the value of one more member, "page", which ReadJSON passes over.
	Own []byte
	// Late tells the columns of rows that a page does not look at. They come last of all, and before them Next is called: what was
	// written until then is the JSON, but for three brackets that close it.
	Late func(column string) bool
	Next func() error
}

// WriteSaved writes what [ReadJSON] needs and nothing else, for faces that carry
// the table with them and for the last result: no operators with their verdicts, which come out again
// when the table is judged. p is nil where no page carries it.
func WriteSaved(to io.Writer, j *verdict.Judged, p *Page) error {
	w := &jsonWriter{to: to, fresh: true, ascii: true}
	w.open('{')
	w.member("schema", Schema)
	w.below("profile")
	w.profile(j.Profile)
	w.member("verdict", j.Verdict.String())
	if p != nil {
		w.below("page")
		w.item()
		w.b = append(w.b, p.Own...)
	}
	w.below("table")
	w.table(j, p)
	return w.end()
}

// member writes a member that is a text, on a line of its own.
func (w *jsonWriter) member(name, text string) {
	w.below(name)
	w.text(text)
}

// below begins a member on a line of its own.
func (w *jsonWriter) below(name string) { w.line(); w.key(name) }

// enter begins a member that is an object or a list.
func (w *jsonWriter) enter(name string, bracket byte)      { w.key(name); w.open(bracket) }
func (w *jsonWriter) enterBelow(name string, bracket byte) { w.below(name); w.open(bracket) }

func (w *jsonWriter) named(name, text string)        { w.key(name); w.text(text) }
func (w *jsonWriter) count(name string, n int64)     { w.key(name); w.int(n) }
func (w *jsonWriter) measure(name string, v float64) { w.key(name); w.number(v) }
func (w *jsonWriter) listed(name string, l []string) { w.key(name); w.texts(l) }
func (w *jsonWriter) flag(name string, v bool)       { w.key(name); w.bool(v) }
func (w *jsonWriter) flagged(name string, v bool) {
	if v {
		w.flag(name, true)
	}
}

func (w *jsonWriter) profile(p *verdict.Profile) {
	w.open('{')
	w.named("name", p.Name)
	w.named("sha256", p.Hash())
	w.close('}')
}

// notes writes what is there only if there is something to tell.
func (w *jsonWriter) notes(j *verdict.Judged) {
	if j.Checked {
		w.line()
		w.flag("checked", true)
	}
	if len(j.Table.Meta.Warnings) > 0 {
		w.line()
		w.listed("warnings", j.Table.Meta.Warnings)
	}
	if len(j.Expired) > 0 {
		w.line()
		objects(w, "expired_waivers", j.Expired, oneLine, func(x *verdict.Waiver) {
			w.named("tensor", x.Tensor)
			w.named("cause", string(x.Cause))
			w.named("reason", x.Reason)
			w.named("owner", x.Owner)
			w.named("expires", x.Expires.Format("2006-01-02"))
		})
	}
	if r := j.Rounded; r != nil {
		w.enterBelow("rounded", '{')
		w.count("count", int64(r.Count))
		w.count("of", int64(r.Of))
		w.measure("most", r.Most)
		if r.Products > 0 {
			w.count("products", int64(r.Products))
		}
		w.close('}')
	}
	if b := j.Bits; b != nil {
		w.enterBelow("bits", '{')
		w.count("equal", int64(b.Equal))
		w.count("differing", int64(b.Differing))
		w.listed("first", each.Of(b.First, func(i int) string { return j.Operators[i].Op.Name }))
		w.close('}')
	}
	if b := j.Baseline; b != nil {
		w.enterBelow("baseline", '{')
		w.named("time", b.Time)
		w.count("same", int64(b.Same))
		w.count("new", int64(b.New))
		w.changes("regressions", b.Regressions)
		w.changes("improved", b.Improved)
		w.close('}')
	}
	if a := j.After; a != nil {
		w.enterBelow("after", '{')
		w.named("time", a.Time)
		w.named("verdict", a.Verdict.String())
		objects(w, "roots", a.Roots, ownLine, func(r *verdict.AfterRoot) {
			w.named("op", r.Op)
			w.count("candidates", int64(r.Candidates))
			w.count("recorded", int64(r.Recorded))
			w.named("outcome", string(r.Outcome))
			w.roots("now", j, r.Now)
		})
		w.close('}')
	}
}

// evidence writes what the verdict is based on beside its operators: damage, premises that
// do not hold, and the outputs of the network.
func (w *jsonWriter) evidence(j *verdict.Judged) {
	w.line()
	objects(w, "damaged", j.Damaged, ownLine, func(d *result.Damage) {
		w.named("name", d.Name)
		w.named("file", d.File)
		w.count("offset", d.Offset)
		w.named("reason", Sentence(msg.English, d.Reason))
	})
	w.line()
	objects(w, "lost", j.Losses, ownLine, func(l *verdict.Loss) {
		w.named("kind", string(l.Kind))
		w.count("count", int64(l.Count))
		w.count("of", int64(l.Of))
		w.listed("names", l.Names)
		w.flag("breaks", l.Breaks)
	})
	w.line()
	objects(w, "premises", j.Premises, ownLine, func(p *verdict.Premise) {
		w.named("kind", string(p.Kind))
		w.flagged("broken", p.Broken)
		w.count("tensors", int64(p.Tensors))
		w.measure("share", p.Share)
		w.named("text", Sentence(msg.English, p.Reason))
	})
	w.enterBelow("network_outputs", '{')
	w.count("expected", int64(j.Outputs.Expected))
	w.count("compared", int64(j.Outputs.Compared))
	w.listed("uncompared", j.Outputs.Uncompared)
	w.close('}')
}

// How a list of objects is written.
const (
	oneLine = false // all on the line of its key
	ownLine = true  // each on a line of its own
)

// objects writes a member that is a list of objects.
func objects[T any](w *jsonWriter, name string, list []T, lines bool, fields func(*T)) {
	w.enter(name, '[')
	for i := range list {
		if lines {
			w.line()
		}
		w.open('{')
		fields(&list[i])
		w.close('}')
	}
	w.close(']')
}

func (w *jsonWriter) changes(name string, list []verdict.Change) {
	objects(w, name, list, oneLine, func(c *verdict.Change) {
		w.named("tensor", c.Tensor)
		w.measure("before", c.Before)
		w.measure("now", c.Now)
		w.count("before_count", c.BeforeCount)
		w.count("now_count", c.NowCount)
	})
}

// roots writes a member that lists operators, by the places of their roots.
func (w *jsonWriter) roots(name string, j *verdict.Judged, list []int) {
	w.listed(name, each.Of(list, func(k int) string { return j.Operators[j.Roots[k].Operator].Op.Name }))
}

// root writes a root.
func (w *jsonWriter) root(j *verdict.Judged, r *verdict.Root) {
	op := &j.Operators[r.Operator]
	w.open('{')
	w.named("op", op.Op.Name)
	w.named("type", op.Op.Type)
	w.count("index", int64(op.Op.Index))
	if len(op.Outputs) > 0 {
		w.count("output", int64(op.Outputs[r.Output].Slot))
	}
	w.named("kind", string(r.Kind))
	w.listed("framework_ops", op.Op.Framework)
	w.flagged("inserted", op.Op.Inserted)
	w.causes(r.Causes)
	if p := j.Pattern(r); p.Kind != "" {
		w.named("pattern", p.Kind)
		if json.Valid([]byte(p.Evidence)) { // a saved table may hold anything
			w.key("evidence")
			w.item()
			w.b = append(w.b, p.Evidence...)
		}
		if p.Explained > 0 {
			w.measure("explained", p.Explained)
		}
	}
	w.named("certainty", r.Certainty.String())
	if len(r.Uncompared) > 0 {
		w.listed("uncompared", r.Uncompared)
	}
	if why := j.Why(r); len(why) > 0 {
		w.reasons("why", why)
	}
	w.listed("region", r.Region)
	w.count("inherited", int64(r.Inherited))
	w.listed("reaches", r.Reaches)
	if len(r.Places) > 0 {
		w.listed("places", r.Places)
	}
	if len(r.Reached) > 0 {
		objects(w, "reached", r.Reached, oneLine, func(x *verdict.Reach) {
			w.named("step", x.Step)
			w.named("rank", x.Rank)
			w.named("op", x.Op)
		})
	}
	w.flagged("edge", r.Edge)
	w.flagged("noise", r.Noise)
	w.begin(j, op, r)
	w.close('}')
}

// causes writes causes, waived ones too.
func (w *jsonWriter) causes(list []verdict.Cause) {
	objects(w, "causes", list, oneLine, func(c *verdict.Cause) {
		w.named("kind", string(c.Kind))
		w.measure("value", c.Value)
		w.measure("limit", c.Limit)
		if c.Count > 0 {
			w.count("count", c.Count)
			w.count("of", c.Of)
		}
		if c.First >= 0 {
			w.count("first", c.First)
		}
		w.flagged("waived", c.Waived)
	})
}

// operator writes an operator with its tensors.
func (w *jsonWriter) operator(j *verdict.Judged, op *verdict.Operator) {
	w.open('{')
	w.named("op", op.Op.Name)
	w.named("type", op.Op.Type)
	w.count("index", int64(op.Op.Index))
	w.named("state", op.State.String())
	if list := op.Op.Framework; (op.State == verdict.StateUncompared || op.State == verdict.StateDamaged) && len(list) > 0 && !(len(list) == 1 && list[0] == op.Op.Name) {
		w.listed("framework_ops", list)
	}
	if len(op.From) > 0 {
		w.roots("from", j, op.From)
	}
	if op.Sensitive > 0 {
		w.measure("amplification", op.Sensitive)
	}
	w.tensors(j, "outputs", op.Outputs)
	w.tensors(j, "inputs", op.Inputs)
	if len(op.Whole) > 0 {
		var all []result.Reason
		for _, row := range op.Whole {
			all = append(all, j.Table.Rows[row].Reasons...)
		}
		w.reasons("reasons", all)
	}
	w.close('}')
}

func (w *jsonWriter) tensors(j *verdict.Judged, name string, list []verdict.Tensor) {
	objects(w, name, list, oneLine, func(t *verdict.Tensor) {
		r := j.Row(t)
		w.count("index", int64(t.Slot))
		w.named("verdict", t.Verdict.String())
		w.causes(t.Causes)
		w.enter("metrics", '{')
		if r.Compared {
			w.metrics(r.Result())
		}
		w.close('}')
		if len(r.Reasons) > 0 {
			w.reasons("reasons", r.Reasons)
		}
		w.count("row", int64(t.Row))
	})
}

// metrics writes the metrics that were computed.
func (w *jsonWriter) metrics(r *metric.Result) {
	for m := range metric.Metric(metric.Count) {
		switch v := &r.Values[m]; {
		case v.BothZero():
			w.measure(m.String(), 1)
		case v.OK():
			w.key(m.String())
			writeValue(w, v)
		}
	}
}

func (w *jsonWriter) reasons(name string, list []result.Reason) {
	objects(w, name, list, oneLine, func(r *result.Reason) {
		w.named("kind", string(r.Kind))
		w.listed("args", r.Args)
	})
}

// table writes the table itself, for ReadJSON: the rows last, as a page does not look at all of their columns.
func (w *jsonWriter) table(j *verdict.Judged, p *Page) {
	t := j.Table
	w.open('{')
	meta := recordOf(&t.Meta, false)
	w.below("meta")
	meta.writeRecord(w)
	profile := recordOf(&savedProfile{j.Profile.Source, j.Profile.Changes()}, false)
	w.below("profile")
	profile.writeRecord(w)
	w.below("operators")
	writeRows(w, t.Ops)
	if t.Checks != nil {
		w.below("checks")
		writeRows(w, t.Checks)
	}
	if t.Looks != nil {
		w.below("looks")
		writeRows(w, t.Looks)
	}
	w.below("rows")
	rows := rowsOf(&t.Rows, false)
	if p == nil {
		rows.write(w, len(t.Rows))
	} else {
		late := set{columns: slices.Clone(rows.columns)}
		late.columns = slices.DeleteFunc(late.columns, func(c column) bool { return !p.Late(c.name) })
		rows.columns = slices.DeleteFunc(rows.columns, func(c column) bool { return p.Late(c.name) })
		w.open('{')
		rows.members(w, len(t.Rows), true)
		w.flush()
		if err := p.Next(); w.err == nil {
			w.err = err
		}
		late.members(w, len(t.Rows), false)
		w.close('}')
	}
	w.close('}')
}

// JSONSchema is the JSON Schema of the file that [WriteJSON] writes.
//
//go:embed schema/verdict-2.json
var JSONSchema []byte
