package overflow

import (
	"encoding/json"
	"fmt"
	"strconv"
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
