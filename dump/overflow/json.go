package overflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"precision/dump"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// JSON is the record in the form that msaccucmp.py converts it to: keys in the
// order of the record, an indentation of four, no newline at the end. Numbers
// are written in full even if they are larger than 2^53.
func (r *Record) JSON() []byte {
	var record members
	if r.Tagged {
		list := members{{"valid", r.Valid}, {"acc_type", r.AccType}, {"rsv", r.Reserved}, {"data_len", r.Length}, {"data", append([]uint64{}, r.Words...)}}
		if len(r.Blocks) > 0 {
			list[1].value, list[4].value = r.Blocks[0].Detector.String(), r.Blocks[0].members()
		}
		record = members{{"magic", hex(Magic)}, {"version", r.Version}, {"acc_list", list}}
	} else {
		for i := range r.Blocks {
			record = append(record, member{r.Blocks[i].Detector.String(), r.Blocks[i].members()})
		}
	}
	text, _ := json.MarshalIndent(record, "", "    ") // of texts and numbers, which cannot fail
	return text
}

func (b *Block) members() (list members) {
	for _, f := range b.Fields {
		if f.Address {
			list = append(list, member{f.Name, hex(f.Value)})
		} else {
			list = append(list, member{f.Name, f.Value})
		}
	}
	if len(b.Status) == 1 {
		return append(list, member{"status", b.Status[0]})
	}
	return append(list, member{"status", append([]uint64{}, b.Status...)})
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// members are those of an object in their order, which encoding/json does not keep for maps.
type members []member

type member struct {
	name  string // none needs escapes
	value any
}

// MarshalJSON implements [json.Marshaler].
func (list members) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = fmt.Appendf(out, "%q:%s", m.name, value)
	}
	return append(out, '}'), nil
}

// missing stands for a task or a stream that a record does not tell.
const missing = math.MaxUint64

// convertedTail ends the name of a record that was converted, see [Record.JSON].
var convertedTail = lazy.Regexp(`\.output\.\d+\.json$`)

// debugName is the name of the debug file that a record was converted from, ""
// if a file is no such record.
func debugName(file string) string {
	at := convertedTail().FindStringIndex(file)
	if at == nil || dump.ParseName(file[:at[0]]).Kind != dump.Debug {
		return ""
	}
	return file[:at[0]]
}

// UseConverted adds to the records those of which there is only what a
// converter made of them.
func (t *Tree) UseConverted() {
	t.Records = append(t.Records, t.Converted...)
	t.Converted = nil
	sortByTime(t.Records)
}

// readConverted reads a record that was converted to JSON. A task or stream
// that is missing or -1 is that of the file's name.
func readConverted(e dump.Entry) (*Record, error) {
	fail := func(text string, err error) (*Record, error) {
		return nil, &dump.Error{Path: e.Path, Code: dump.CodeInvalid, Offset: -1, Text: text, Err: err}
	}
	text, err := plainfile.ReadFile(e.Path, "a record in JSON", maxPayload)
	if err != nil {
		return fail("", cause(err))
	}
	r, err := DecodeJSON(text)
	if err != nil {
		return fail("not a record in JSON", err)
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Task == missing && e.Name.Task >= 0 {
			b.Task = uint64(e.Name.Task)
		}
		if b.Stream == missing && e.Name.Stream >= 0 {
			b.Stream = uint64(e.Name.Stream)
		}
	}
	return r, nil
}

// DecodeJSON reads what [Record.JSON] and msaccucmp.py convert write. Fields
// that are missing are 0, a missing context or thread is [None].
func DecodeJSON(text []byte) (*Record, error) {
	return must.Of(func() *Record { return decodeJSON(text) })
}

func decodeJSON(text []byte) *Record {
	top := objectOf(text, "")
	if _, ok := top["magic"]; ok {
		return taggedFromJSON(top)
	}
	r := &Record{}
	found := false
	for _, o := range oldBlocks {
		var fields object
		if raw, ok := top[o.detector.String()]; ok {
			found = true
			fields = objectOf(raw, o.detector.String()+": ")
		}
		r.Blocks = append(r.Blocks, fields.block(o.detector, slices.Concat(identification, o.more)))
	}
	if !found {
		must.Do(fmt.Errorf("found neither magic nor %s, %s or %s", DHAAtomicAdd, L2AtomicAdd, AICore))
	}
	return r
}

func taggedFromJSON(top object) *Record {
	r := &Record{Tagged: true}
	list := objectOf(top["acc_list"], "acc_list: ")
	for _, v := range []struct {
		from object
		name string
		to   *uint32
	}{{top, "version", &r.Version}, {list, "valid", &r.Valid}, {list, "rsv", &r.Reserved}, {list, "data_len", &r.Length}} {
		*v.to = uint32(v.from.number("", v.name, 0))
	}
	var name string
	json.Unmarshal(list["acc_type"], &name) // if it is no text, no detector has the name
	detector := AIC
	for ; detector.String() != name; detector++ {
		if detector == SDMA {
			must.Do(fmt.Errorf("acc_type: found %.40s, expected %s to %s", list["acc_type"], AIC, SDMA))
		}
	}
	r.AccType = uint32(detector - AIC)
	if r.Valid != 1 {
		r.warnf("the record is marked as not valid: found %d, expected 1", r.Valid)
	}
	r.Blocks = []Block{objectOf(list["data"], "data: ").block(detector, taggedFields[detector])}
	return r
}

type object map[string]json.RawMessage

// objectOf reads an object; at is what stands before an error.
func objectOf(text []byte, at string) (o object) {
	err := errors.New("missing, expected an object")
	if len(text) > 0 {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		must.Do(fmt.Errorf("%s%w", at, err))
	}
	return o
}

// block reads the fields of a detector.
func (o object) block(d Detector, names []string) Block {
	at := d.String() + ": "
	b := Block{Detector: d, Context: None, Thread: None}
	fallback := map[string]uint64{"task_id": missing, "stream_id": missing, "context_id": None, "thread_id": None}
	for _, name := range names {
		v := o.number(at, name, fallback[name])
		b.set(name, v)
		if v == missing {
			v = 0
		}
		b.Fields = append(b.Fields, Field{name, v, address[name]})
	}
	raw := bytes.TrimSpace(o["status"])
	if len(raw) > 0 && raw[0] == '[' {
		var all []json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			must.Do(fmt.Errorf("%sstatus: %w", at, err))
		}
		for _, raw := range all {
			b.Status = append(b.Status, (object{"status": raw}).number(at, "status", 0))
		}
		return b
	}
	b.Status = []uint64{o.number(at, "status", 0)}
	return b
}

// number reads a number or a text with one, decimal or 0x. What is missing,
// null or -1 is the fallback; at is what stands before an error.
func (o object) number(at, name string, fallback uint64) uint64 {
	raw := string(bytes.TrimSpace(o[name]))
	var text string
	if json.Unmarshal(o[name], &text) == nil && raw != "null" {
		raw = text
	}
	if raw == "" || raw == "null" || raw == "-1" {
		return fallback
	}
	v, err := strconv.ParseUint(raw, 0, 64)
	if err != nil {
		must.Do(fmt.Errorf("%s%s: found %.40q, expected a number of 64 bits", at, name, raw))
	}
	return v
}
