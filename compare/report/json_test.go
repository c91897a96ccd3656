package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestJSONKeepsAll: whatever a table holds comes back.
func TestJSONKeepsAll(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		table := &result.Table{}
		fill(r, reflect.ValueOf(&table.Meta).Elem())
		table.Rows = make([]result.Row, r.IntN(12))
		for i := range table.Rows {
			fill(r, reflect.ValueOf(&table.Rows[i]).Elem())
		}
		table.Ops = make([]result.Operator, r.IntN(8))
		for i := range table.Ops {
			fill(r, reflect.ValueOf(&table.Ops[i]).Elem())
		}
		table.Checks = make([]result.Check, r.IntN(5))
		for i := range table.Checks {
			fill(r, reflect.ValueOf(&table.Checks[i]).Elem())
		}
		judged := &verdict.Judged{Table: table, Profile: verdict.Default()}
		text := write(t, judged)
		saved, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if !same(reflect.ValueOf(table).Elem(), reflect.ValueOf(saved.Table).Elem()) {
			t.Fatalf("seed %d: wrote\n%+v\nread\n%+v\nof\n%s", seed, table, saved.Table, text)
		}
		judged.Table = saved.Table
		if again := write(t, judged); !bytes.Equal(text, again) {
			t.Fatalf("seed %d: the same table gives\n%s\nand\n%s", seed, text, again)
		}
	}
}

func write(t testing.TB, j *verdict.Judged) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, j); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBadJSON: errors say where, what was found and what was expected.
func TestBadJSON(t *testing.T) {
	const begin = `{"schema":"precision/verdict/2",`
	for _, c := range []struct{ text, want string }{
		{``, `offset 0: the file ends, expected {`},
		{`[]`, `offset 0: found [, expected {`},
		{`{}`, `found no member "table"`},
		{`{"schema":"precision/verdict/3"}`, `schema: found "precision/verdict/3", expected "precision/verdict/2"`},
		{`{"schema":"precision/verdict/1"}`, `found no member "table"`},
		{`{"schema":3}`, `schema at offset 9: `},
		{`{"roots":[]}`, `found the member "roots" first, expected "schema"`},
		{begin + `"table":{}}`, `table: found no member "rows"`},
		{begin + `"table":{"rows":[]}}`, `table: rows: offset 47: found [, expected {`},
		{begin + `"table":{"rows":{"type":["a"]}}}`, `table: rows: found no op, expected that column`},
		{begin + `"table":{"rows":{"op":["a"],"index":[1,2]}}}`, `table: rows: index at offset 67: found 2 rows, expected 1`},
		{begin + `"table":{"rows":{"op":["a"],"op":["b"]}}}`, `table: rows: op at offset 64: found twice`},
		{begin + `"table":{"rows":{"op":[1]}}}`, `table: rows: op at offset 53: row 0: found 1, expected a text`},
		{begin + `"table":{"rows":{"op":["a"],"index":[1.5]}}}`, `table: rows: index at offset 67: row 0: found 1.5, expected a whole number`},
		{begin + `"table":{"rows":{"op":["a"],"distance":["inf"]}}}`, `row 0: found "inf", expected a number`},
		{begin + `"table":{"rows":{"op":["a"],"role":["out"]}}}`, `row 0: found "out", expected one of output, input, operator`},
		{begin + `"table":{"rows":{"op":{"of":["a"],"at":[0,1]}}}}`, `at: row 1: found 1, expected a place among 1 texts`},
		{begin + `"table":{"rows":{"op":["a"],"reasons":{"row":[1],"kind":["text"]}}}}`, `reasons: row 0: found a row 1, expected one of 1`},
		{begin + `"table":{"rows":{"op":["a"],"reasons":[]}}}`, `reasons: offset 0: found [, expected {`},
		{begin + `"table":{"rows":{"op":["a"]}}` + "\n" + seal(1), `found the checksum edee81e8, expected 00000001`},
		{begin + `"table":{"rows":{"op":["a"]`, `offset 5`},
		{begin + `"table":{"rows":{"op":["a"]}}} x`, `the text goes on, expected its end`},
		{begin + `"table":{"rows":{"op":["a"]}},"roots":[` + strings.Repeat("[", 20000), `exceeded max depth`},
	} {
		_, err := ReadJSON(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.90s: %v, expected %s", c.text, err, c.want)
		}
	}
	if _, err := ReadJSON(strings.NewReader(begin + `"new":{"a":[1,{}]},"table":{"new":[[]],"rows":{"op":["a"],"new":[1,2,3],"Distance":["x"]}}}`)); err != nil {
		t.Errorf("what a later version may add: %v", err)
	}
}

// TestForgedProfile: the profile in a file is the one whose hash it tells.
func TestForgedProfile(t *testing.T) {
	text := string(write(t, &verdict.Judged{Table: &result.Table{}, Profile: verdict.Default()}))
	text, _, _ = strings.Cut(text, "\n, ") // without the seal, which tells of it, too
	saved, err := ReadJSON(strings.NewReader(strings.Replace(text, "limit = 0.98", "limit = 0.10", 1) + "}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := saved.Profile(); err == nil || !strings.Contains(err.Error(), "found a profile of the sha256") {
		t.Errorf("a profile that was changed: %v", err)
	}
	saved.profile.Source = ""
	if _, err := saved.Profile(); err == nil || !strings.Contains(err.Error(), "found no text of the profile") {
		t.Errorf("no profile: %v", err)
	}
}

// TestShortJSON: a file that was cut short is an error, never a panic or
// a shorter table.
func TestShortJSON(t *testing.T) {
	table := &result.Table{Rows: make([]result.Row, 2), Ops: make([]result.Operator, 2)}
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 2 {
		fill(r, reflect.ValueOf(&table.Rows[i]).Elem())
		fill(r, reflect.ValueOf(&table.Ops[i]).Elem())
	}
	text := bytes.TrimSpace(write(t, &verdict.Judged{Table: table, Profile: verdict.Default()}))
	for n := 0; n < len(text); n += 1 + n/100 {
		if _, err := ReadJSON(bytes.NewReader(text[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are read as a table", n, len(text))
		}
	}
}

// FuzzReadJSON: bad input never panics, and what can be read is written as what is
// read again.
func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(`{"schema":%q,"table":{"meta":{"time":"2026-01-01T00:00:00Z"},"rows":{"op":["a"],"slot":[-1]}}}`, Schema)))
	f.Fuzz(func(t *testing.T, text []byte) {
		saved, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := ReadJSON(bytes.NewReader(write(t, &verdict.Judged{Table: saved.Table, Profile: verdict.Default()})))
		if err != nil || !same(reflect.ValueOf(saved.Table).Elem(), reflect.ValueOf(again.Table).Elem()) {
			t.Fatalf("read %+v, then %v %+v", saved.Table, err, again)
		}
	})
}

// TestJSONAgain: a table that went through a file is judged as before, and the file
// keeps to its schema.
func TestJSONAgain(t *testing.T) {
	schema := compileSchema(t, JSONSchema)
	verdicts := map[string]int{}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		j := judgeRandom(r)
		text := write(t, j)
		validate(t, schema, text)
		saved, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if saved.ProfileName != j.Profile.Name || saved.Hash != j.Profile.Hash() || saved.Verdict != j.Verdict.String() {
			t.Fatalf("seed %d: read the profile %s %s and the verdict %s", seed, saved.ProfileName, saved.Hash, saved.Verdict)
		}
		profile, err := saved.Profile()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again := verdict.Judge(saved.Table, verdict.Options{Profile: profile})
		again.Baseline = j.Baseline // of another file
		if second := write(t, again); !bytes.Equal(text, second) {
			t.Fatalf("seed %d: judged again it is\n%s\nand was\n%s", seed, second, text)
		}
		verdicts[saved.Verdict]++
	}
	for _, v := range []string{"good", "suspect", "bad", "inconclusive"} {
		if verdicts[v] == 0 {
			t.Errorf("no random network is %s; they are %v", v, verdicts)
		}
	}
}

// judgeRandom judges a random network, now and then with an oracle's words or
// against an earlier table.
func judgeRandom(r *rand.Rand) *verdict.Judged {
	table := randomNetwork(r)
	opts := verdict.Options{Profile: verdict.Default()}
	for range r.IntN(8) / 6 {
		changed, err := opts.Profile.WithLimit(verdict.Cosine, []float64{0.9, 0.97, 0.999}[r.IntN(3)])
		if err != nil {
			panic(err)
		}
		opts.Profile = changed
	}
	if r.IntN(3) == 0 {
		for i := range table.Rows {
			if row := &table.Rows[i]; row.Role == result.Output && r.IntN(3) == 0 {
				wrong := r.IntN(10) == 0
				table.Checks = append(table.Checks, result.Check{Op: row.Op, Output: row.Slot, Known: true, Wrong: wrong, Ratio: 3 * r.Float64(), Amplification: r.Float64()})
			}
		}
	}
	if r.IntN(4) == 0 {
		opts.Baseline = randomNetwork(r)
	}
	return verdict.Judge(table, opts)
}

// BenchmarkWriteJSON writes a judged table of 100 000 rows.
func BenchmarkWriteJSON(b *testing.B) {
	j := verdict.Judge(largeTable(100_000), verdict.Options{})
	n := len(write(b, j))
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteJSON(io.Discard, j); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/float64(len(j.Table.Rows)), "bytes/row")
}

// BenchmarkReadJSON reads it back.
func BenchmarkReadJSON(b *testing.B) {
	text := write(b, verdict.Judge(largeTable(100_000), verdict.Options{}))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadJSON(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestColumns: no two facts go by one name.
func TestColumns(t *testing.T) {
	for _, s := range []set{recordOf(&result.Row{}, true), recordOf(&result.Operator{}, true), recordOf(&result.Meta{}, true)} {
		seen := map[string]bool{}
		for _, c := range s.columns {
			if seen[c.name] {
				t.Errorf("two columns %s", c.name)
			}
			seen[c.name] = true
		}
		for _, p := range s.parts {
			if seen[p.name] {
				t.Errorf("two parts %s", p.name)
			}
			seen[p.name] = true
		}
	}
}

// full is a disk with little space left.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFullDisk: no renderer takes a file that was cut short for a whole one.
func TestFullDisk(t *testing.T) {
	j := verdict.Judge(largeTable(200), verdict.Options{})
	for name, render := range map[string]func(io.Writer, *verdict.Judged) error{
		"json": WriteJSON, "junit": JUnit{}.Write, "sarif": SARIF{}.Write,
	} {
		for _, left := range []int{0, 100, 1000} {
			if err := render(&full{left}, j); !errors.Is(err, errFull) {
				t.Errorf("%s with %d bytes left: %v", name, left, err)
			}
		}
	}
}

// TestSeal: a table that lost a block and is JSON all the same is not as it was written; one that is written again in another form is.
func TestSeal(t *testing.T) {
	table := &result.Table{}
	for i := range 40 {
		table.Rows = append(table.Rows, result.Row{Op: fmt.Sprint("op", i), Slot: i})
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, verdict.Judge(table, verdict.Options{})); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		if s, err := ReadJSON(read(strings.NewReader(text))); err != nil || len(s.Table.Rows) != 40 {
			t.Fatalf("as it was written: %v", err)
		}
		if _, err := ReadJSON(read(strings.NewReader(strings.Replace(text, `"op17",`, "", 1)))); err == nil {
			t.Error("a name is lost, and nothing is said")
		}
		column := regexp.MustCompile(`,\s*"slot":\[[^]]*\]`)
		if _, err := ReadJSON(read(strings.NewReader(column.ReplaceAllString(text, "")))); err == nil || !strings.Contains(err.Error(), "not as it was written") {
			t.Errorf("a column is lost: %v", err)
		}
	}
	var members map[string]any
	if err := json.Unmarshal(b.Bytes(), &members); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(map[string]any{"schema": members["schema"], "table": members["table"], "crc32": members["crc32"]})
	if err != nil {
		t.Fatal(err)
	}
	again = append([]byte(`{"schema":"precision/verdict/2",`), again[1:]...)
	again = bytes.Replace(again, []byte(`,"schema":"precision/verdict/2"`), nil, 1)
	if _, err := ReadJSON(bytes.NewReader(again)); err != nil {
		t.Errorf("in another form: %v", err)
	}
}

// TestSchemaBefore: a file of the first schema, which had no lists of what is damaged, lost or taken for granted, no checksum and no
// kinds of roots, is judged as one of this.
func TestSchemaBefore(t *testing.T) {
	for seed := range uint64(20) {
		j := judgeRandom(rand.New(rand.NewPCG(seed, 2)))
		var members map[string]json.RawMessage
		if err := json.Unmarshal(write(t, j), &members); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"schema", "damaged", "lost", "premises", "network_outputs", "crc32"} {
			delete(members, name)
		}
		var roots []map[string]any
		if err := json.Unmarshal(members["roots"], &roots); err != nil {
			t.Fatal(err)
		}
		for _, r := range roots {
			delete(r, "kind")
		}
		var err error
		if members["roots"], err = json.Marshal(roots); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := ReadJSON(bytes.NewReader(append([]byte(`{"schema":"precision/verdict/1",`), text[1:]...)))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		profile, err := saved.Profile()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again := verdict.Judge(saved.Table, verdict.Options{Profile: profile})
		again.Baseline = j.Baseline // of another file
		if !bytes.Equal(write(t, again), write(t, j)) {
			t.Errorf("seed %d: %s, was %s", seed, again.Verdict, j.Verdict)
		}
	}
}
