package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"precision/compare/result"
	"precision/compare/verdict"
)

// metaSet is what is kept of the table as a whole, a set of one row.
func metaSet(m *result.Meta) set {
	s := set{columns: []column{
		record("numerics", &m.Numerics),
		lists("metrics", func(int) *[]string { return &m.Metrics }),
		instants("time", func(int) *time.Time { return &m.Time }),
		record("version", &m.Version),
		record("graph", &m.Graph),
		record("graph_how", &m.GraphHow),
		record("pairing", &m.Pairing.How),
		flags("unordered", func(int) *bool { return &m.Unordered }),
		integers("paired", func(int) *int { return &m.Pairing.Paired }),
		integers("unpaired", func(int) *int { return &m.Pairing.Unpaired }),
		integers("reordered", func(int) *int { return &m.Pairing.Reordered }),
		integers("mapped", func(int) *int { return &m.Pairing.Mapped }),
		integers("weights_differ", func(int) *int { return &m.Weighed.Differ }),
		integers("weights_weighed", func(int) *int { return &m.Weighed.Of }),
		flags("recorded", func(int) *bool { return &m.Recorded }),
		flags("stored", func(int) *bool { return &m.Stored }),
		flags("partial", func(int) *bool { return &m.Partial }),
		flags("imported", func(int) *bool { return &m.Imported }),
		integers("strangers", func(int) *int { return &m.Strangers }),
		integers("dumped", func(int) *int { return &m.Dumped }),
		lists("strange", func(int) *[]string { return &m.Strange }),
		lists("warnings", func(int) *[]string { return &m.Warnings }),
	}}
	for _, side := range []struct {
		name string
		of   *result.Side
	}{{"left_", &m.Left}, {"right_", &m.Right}} {
		s.columns = append(s.columns,
			record(side.name+"dir", &side.of.Dir),
			record(side.name+"kind", &side.of.Kind),
			record(side.name+"recording", &side.of.Recording),
			lists(side.name+"others", func(int) *[]string { return &side.of.Others }))
	}
	s.parts = []part{
		sparse("damaged",
			func(_ int, yield func(*result.Damage)) { eachOf(m.Damaged, yield) },
			func(_ int, d result.Damage) { m.Damaged = append(m.Damaged, d) },
			damageSet),
		sparse("hints",
			func(_ int, yield func(*result.Reason)) { eachOf(m.Hints, yield) },
			func(_ int, r result.Reason) { m.Hints = append(m.Hints, r) },
			reasonSet),
		sparse("pairing_why",
			func(_ int, yield func(*result.Reason)) { eachOf(m.Pairing.Why, yield) },
			func(_ int, r result.Reason) { m.Pairing.Why = append(m.Pairing.Why, r) },
			reasonSet),
		sparse("pairing_covered",
			func(_ int, yield func(*covered)) {
				for _, how := range slices.Sorted(maps.Keys(m.Pairing.Covered)) {
					yield(&covered{how, m.Pairing.Covered[how]})
				}
			},
			func(_ int, c covered) {
				if m.Pairing.Covered == nil {
					m.Pairing.Covered = map[result.How]int{}
				}
				m.Pairing.Covered[c.how] = c.count
			},
			func(at func(int) *covered) set {
				return set{columns: []column{
					words("how", func(i int) *result.How { return &at(i).how }),
					integers("operators", func(i int) *int { return &at(i).count }),
				}}
			}),
	}
	return s
}

// covered is how much one way of pairing brought together.
type covered struct {
	how   result.How
	count int
}

func record[T ~string](name string, at *T) column {
	return words(name, func(int) *T { return at })
}

// instants is a column of times.
func instants(name string, at func(int) *time.Time) column {
	return plain(name, at, func(v *time.Time) bool { return v.IsZero() },
		func(w *jsonWriter, v *time.Time) { w.text(v.Format(time.RFC3339Nano)) },
		func(item []byte, v *time.Time) error {
			s, err := parseBytes(item)
			if err == nil {
				*v, err = time.Parse(time.RFC3339Nano, s)
			}
			if err != nil {
				return unexpected(item, "a time as 2006-01-02T15:04:05Z")
			}
			return nil
		})
}

// reasonSet is what is kept of reasons.
func reasonSet(at func(int) *result.Reason) set {
	return set{columns: []column{
		words("kind", func(i int) *result.Kind { return &at(i).Kind }),
		lists("args", func(i int) *[]string { return &at(i).Args }),
	}}
}

// damageSet is what is kept of damage.
func damageSet(at func(int) *result.Damage) set {
	return set{columns: []column{
		words("name", func(i int) *string { return &at(i).Name }),
		words("file", func(i int) *string { return &at(i).File }),
		integers("offset", func(i int) *int64 { return &at(i).Offset }),
		words("kind", func(i int) *result.Kind { return &at(i).Reason.Kind }),
		lists("args", func(i int) *[]string { return &at(i).Reason.Args }),
	}}
}

// profileSet is what is kept of the profile, to judge by it again.
func profileSet(p *savedProfile) set {
	return set{
		columns: []column{record("source", &p.source)},
		parts: []part{sparse("changes",
			func(_ int, yield func(*verdict.Limit)) { eachOf(p.changes, yield) },
			func(_ int, l verdict.Limit) { p.changes = append(p.changes, l) },
			func(at func(int) *verdict.Limit) set {
				return set{columns: []column{
					words("cause", func(i int) *verdict.Kind { return &at(i).Cause }),
					numbers("limit", func(i int) *float64 { return &at(i).Value }),
				}}
			})},
	}
}

// savedProfile is the text of a profile and the limits set in front of it.
type savedProfile struct {
	source  string
	changes []verdict.Limit
}

// checkSet is what is kept of an oracle's words.
func checkSet(at func(int) *result.Check) set {
	return set{columns: []column{
		words("op", func(i int) *string { return &at(i).Op }),
		integers("output", func(i int) *int { return &at(i).Output }),
		flags("known", func(i int) *bool { return &at(i).Known }),
		flags("wrong", func(i int) *bool { return &at(i).Wrong }),
		flags("suspect", func(i int) *bool { return &at(i).Suspect }),
		numbers("ratio", func(i int) *float64 { return &at(i).Ratio }),
		numbers("local", func(i int) *float64 { return &at(i).Local }),
		numbers("inherited", func(i int) *float64 { return &at(i).Inherited }),
		numbers("amplification", func(i int) *float64 { return &at(i).Amplification }),
		words("pattern", func(i int) *string { return &at(i).Pattern }),
		words("evidence", func(i int) *string { return &at(i).Evidence }),
		numbers("explained", func(i int) *float64 { return &at(i).Explained }),
		words("golden", func(i int) *result.GoldenWord { return &at(i).Golden }),
		numbers("apart", func(i int) *float64 { return &at(i).Apart }),
	}, parts: []part{sparse("why",
		func(i int, yield func(*result.Reason)) { eachOf(at(i).Why, yield) },
		func(i int, r result.Reason) { at(i).Why = append(at(i).Why, r) },
		reasonSet)}}
}

// writeRecord writes a set of one row as an object with its values, not lists of
// one.
func (s *set) writeRecord(w *jsonWriter) {
	w.open('{')
	for _, c := range s.columns {
		if c.zero(0) {
			continue
		}
		list := jsonWriter{fresh: true}
		c.write(&list, 1)
		w.key(c.name)
		w.item()
		w.b = append(w.b, list.b[1:len(list.b)-1]...)
	}
	for _, p := range s.parts {
		p.write(w, 1)
	}
	w.close('}')
}

// readRecord reads what writeRecord wrote.
func (s *set) readRecord(dec *json.Decoder) error {
	var members map[string]json.RawMessage
	at := dec.InputOffset()
	if err := dec.Decode(&members); err != nil {
		return fmt.Errorf("offset %d: %w", at, err)
	}
	for _, c := range s.columns {
		raw, ok := members[c.name]
		if !ok {
			continue
		}
		_, set, err := c.parse(slices.Concat([]byte("["), raw, []byte("]")))
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		set()
	}
	for _, p := range s.parts {
		if raw, ok := members[p.name]; ok {
			if err := p.parse(raw, 1); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}
