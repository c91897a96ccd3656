package overflow

import "strconv"

// JSON is the record in the form that msaccucmp.py converts it to: keys in the
// order of the record, an indentation of four, no newline at the end. Numbers
// are written in full even if they are larger than 2^53.
func (r *Record) JSON() []byte {
	w := &writer{}
	w.open('{')
	if r.Tagged {
		r.taggedJSON(w)
	} else {
		for i := range r.Blocks {
			b := &r.Blocks[i]
			w.key(b.Detector.String())
			w.block(b)
		}
	}
	w.close('}')
	return w.out
}

func (r *Record) taggedJSON(w *writer) {
	w.key("magic")
	w.hex(Magic)
	w.key("version")
	w.number(uint64(r.Version))
	w.key("acc_list")
	w.open('{')
	w.key("valid")
	w.number(uint64(r.Valid))
	w.key("acc_type")
	if len(r.Blocks) > 0 {
		w.text(r.Blocks[0].Detector.String())
	} else {
		w.number(uint64(r.AccType))
	}
	w.key("rsv")
	w.number(uint64(r.Reserved))
	w.key("data_len")
	w.number(uint64(r.Length))
	w.key("data")
	if len(r.Blocks) > 0 {
		w.block(&r.Blocks[0])
	} else {
		w.numbers(r.Words)
	}
	w.close('}')
}

// writer writes JSON with one value a line. It is told the order of keys,
// which encoding/json cannot be for maps.
type writer struct {
	out   []byte
	depth int
	empty bool // nothing yet in the innermost object or list
}

func (w *writer) open(c byte) {
	w.out = append(w.out, c)
	w.depth++
	w.empty = true
}

func (w *writer) close(c byte) {
	w.depth--
	if !w.empty {
		w.line()
	}
	w.out = append(w.out, c)
	w.empty = false
}

func (w *writer) line() {
	w.out = append(w.out, '\n')
	for range w.depth {
		w.out = append(w.out, "    "...)
	}
}

// next goes to where the next value belongs.
func (w *writer) next() {
	if !w.empty {
		w.out = append(w.out, ',')
	}
	w.empty = false
	w.line()
}

func (w *writer) key(name string) {
	w.next()
	w.text(name)
	w.out = append(w.out, ": "...)
}

// text writes one of the names of this package, none of which needs escapes.
func (w *writer) text(s string) { w.out = append(append(append(w.out, '"'), s...), '"') }

func (w *writer) number(v uint64) { w.out = strconv.AppendUint(w.out, v, 10) }

func (w *writer) hex(v uint64) { w.text("0x" + strconv.FormatUint(v, 16)) }

func (w *writer) numbers(all []uint64) {
	w.open('[')
	for _, v := range all {
		w.next()
		w.number(v)
	}
	w.close(']')
}

func (w *writer) block(b *Block) {
	w.open('{')
	for _, f := range b.Fields {
		w.key(f.Name)
		if f.Address {
			w.hex(f.Value)
		} else {
			w.number(f.Value)
		}
	}
	w.key("status")
	if len(b.Status) == 1 {
		w.number(b.Status[0])
	} else {
		w.numbers(b.Status)
	}
	w.close('}')
}
