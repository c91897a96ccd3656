package job

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"precision/internal/plainfile"
)

// Whatever is in a journal, its good part is what its entries take, and is found
// again when the rest is cut off.
func FuzzJournal(f *testing.F) {
	var b bytes.Buffer
	for _, text := range []string{`{}`, `{"unit":"step0/rank0","stamp":"1","tables":[{"name":"a.csv","size":3}]}`, `{"unit":1}`} {
		if err := writeFrame(&b, []byte(text)); err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(b.Bytes()))
	}
	f.Add([]byte("\xff\xff\xff\x7f\x00\x00\x00\x00"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, JournalFile)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := readJournal(dir, nil)
		if err != nil {
			return
		}
		if x.good > int64(len(content)) || !x.damaged && x.good != int64(len(content)) {
			t.Fatalf("%d good bytes of %d, damaged %v", x.good, len(content), x.damaged)
		}
		if err := os.WriteFile(path, content[:x.good], 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := readJournal(dir, nil); err != nil || again.good != x.good || len(again.done) != len(x.done) {
			t.Fatalf("%+v, then %+v, %v", x, again, err)
		}
	})
}

// A disk that cannot be read is no end of a journal: what is behind must not be cut off.
func TestJournalThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	for range 3 {
		writeFrame(&b, []byte(`{"unit":"a"}`))
	}
	if err := os.WriteFile(filepath.Join(dir, JournalFile), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	disk := errors.New("input/output error")
	defer plainfile.Inject(nil)
	for at := 0; at < b.Len(); at++ {
		plainfile.Inject(func(_ string, from int64, wanted int) (int, error) {
			if from+int64(wanted) <= int64(at) {
				return wanted, nil
			}
			return max(0, min(wanted, at-int(from))), disk
		})
		if _, err := readJournal(dir, nil); !errors.Is(err, disk) {
			t.Fatalf("a fault at %d: %v", at, err)
		}
	}
	plainfile.Inject(func(_ string, from int64, wanted int) (int, error) { return min(wanted, 30-int(from)), nil })
	if x, err := readJournal(dir, nil); err != nil || !x.damaged || x.good == 0 {
		t.Fatalf("a journal that ends early: %+v, %v", x, err)
	}
}

// Numbers and shards are taken or refused.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"0,4-7,16-", "2/7", "9223372036854775808", "-1", " ", "1-0", "0/0", "1/99999999999"} {
		f.Add(text, 4)
	}
	f.Fuzz(func(t *testing.T, text string, i int) {
		if n, err := ParseNumbers(text); err == nil && i < 0 && n != nil && n.Has(i) {
			t.Fatalf("%q holds %d", text, i)
		}
		if shard, shards, err := ParseShard(text); err == nil && (shard < 1 || shard > shards) {
			t.Fatalf("%q is %d of %d", text, shard, shards)
		}
	})
}

// A plan that is read is one that can be written and read again.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"version":1,"parts":[]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := readPlan(text)
		if (p == nil) == (err == nil) {
			t.Fatal(p, err)
		}
	})
}
