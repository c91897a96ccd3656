package overflow

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"precision/dump"
)

const cases = "../../testdata/cases"

// Every recorded debug file gives the recorded JSON, byte by byte.
func TestRecordedJSON(t *testing.T) {
	want, err := filepath.Glob(cases + "/*/expected/*/files/out/Opdebug.*.json")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, w := range want {
		expected, err := os.ReadFile(w)
		if err != nil {
			t.Fatal(err)
		}
		run := filepath.Dir(filepath.Dir(filepath.Dir(w)))
		file, out, _ := strings.Cut(filepath.Base(w), ".output.")
		in := inputs(t, filepath.Dir(filepath.Dir(run)), file)
		found := false
		for _, path := range in {
			all, err := Read(dump.Entry{Path: path, Name: dump.ParseName(file)})
			i := int(out[0] - '0')
			if err != nil && i >= len(all) {
				continue
			}
			if i < len(all) && all[i] != nil && bytes.Equal(all[i].JSON(), expected) {
				found = true
			}
		}
		if !found {
			t.Errorf("none of %q gives %s", in, w)
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("checked only %d files", checked)
	}
}

// inputs finds the files of a name below the input of a case.
func inputs(t *testing.T, dir, file string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(dir, "in"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == file {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func old(set map[int]uint64) []byte {
	b := make([]byte, oldSize)
	for at, v := range set {
		binary.LittleEndian.PutUint64(b[at:], v)
	}
	return b
}

func tagged(version, valid, acc, length uint32, fields ...uint64) []byte {
	var b []byte
	for _, v := range []uint32{Magic, version, valid, acc, 7, length} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for _, v := range fields {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func TestDecodeOld(t *testing.T) {
	r, err := Decode(old(map[int]uint64{256: 514, 264: 563, 272: 57, 288: 0x1008005b0000, 296: 0x100800297000, 1024: 0x1008005ae000, 1032: 1, 1040: 32}))
	if err != nil {
		t.Fatal(err)
	}
	found := r.Detected()
	if len(found) != 1 {
		t.Fatalf("%d blocks", len(found))
	}
	want := Block{AICore, 563, 57, None, None, []Field{
		{"model_id", 514, false}, {"stream_id", 563, false}, {"task_id", 57, false}, {"task_type", 0, false},
		{"pc_start", 0x1008005b0000, true}, {"para_base", 0x100800297000, true}, {"kernel_code", 0x1008005ae000, true}, {"block_idx", 1, false},
	}, []uint64{32}}
	if !reflect.DeepEqual(*found[0], want) {
		t.Errorf("%+v", *found[0])
	}
	if !json.Valid(r.JSON()) {
		t.Errorf("%s", r.JSON())
	}
}

func TestDecodeTagged(t *testing.T) {
	n := make([]uint64, 20)
	for i := range n {
		n[i] = uint64(i) + 100
	}
	for _, c := range []struct {
		name                   string
		payload                []byte
		detector               Detector
		thread                 uint64
		last                   Field
		status                 []uint64
		warnings               int
		stream, task, contexts uint64
	}{
		{"AIC", tagged(0, 1, 0, 88, n...), AIC, 105, Field{"block_id", 109, false}, n[10:11], 0, 101, 102, 104},
		{"AIV of version 1", tagged(1, 1, 1, 112, n...), AIV, 105, Field{"block_id", 109, false}, n[10:14], 0, 101, 102, 104},
		{"AICPU of version 1", tagged(1, 1, 2, 64, n...), AICPU, 106, Field{"thread_id", 106, false}, n[7:8], 0, 101, 102, 104},
		{"SDMA of version 2", tagged(2, 1, 3, 80, n...), SDMA, 105, Field{"channel_id", 108, false}, n[9:10], 0, 101, 102, 104},
		{"not valid, wrong length", tagged(0, 0, 0, 80, n...), AIC, 105, Field{"block_id", 109, false}, n[10:11], 2, 101, 102, 104},
		{"no byte too many", tagged(0, 1, 0, 88, n[:11]...), AIC, 105, Field{"block_id", 109, false}, n[10:11], 0, 101, 102, 104},
	} {
		r, err := Decode(c.payload)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b := r.Blocks[0]
		if len(r.Blocks) != 1 || b.Detector != c.detector || b.Thread != c.thread || b.Fields[len(b.Fields)-1] != c.last ||
			!reflect.DeepEqual(b.Status, c.status) || len(r.Warnings) != c.warnings || b.Stream != c.stream || b.Task != c.task || b.Context != c.contexts {
			t.Errorf("%s: %+v", c.name, r)
		}
		if !json.Valid(r.JSON()) {
			t.Errorf("%s: %s", c.name, r.JSON())
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload []byte
		code    int
		text    string
	}{
		{"nothing", nil, 11, "byte 0 of the record: found 0 bytes, expected at least 4"},
		{"short", make([]byte, 2047), 11, "byte 0 of the record: found 2047 bytes, expected 2048 for a record without a tag"},
		{"long", make([]byte, 2049), 11, "byte 0 of the record: found 2049 bytes, expected 2048 for a record without a tag"},
		{"tag alone", tagged(0, 1, 0, 0)[:23], 11, "byte 0 of the record: found 23 bytes, expected 24 for the header of a tagged record"},
		{"cut", tagged(0, 1, 0, 88, make([]uint64, 10)...), 11, "byte 24 of the record: found 80 bytes, expected 88 for the fields of AIC"},
		{"cut, version 1", tagged(1, 1, 1, 112, make([]uint64, 13)...), 11, "byte 24 of the record: found 104 bytes, expected 112 for the fields of AIV"},
		{"detector", tagged(0, 1, 4, 88), 35, "byte 12 of the record: found detector 4, expected 0 (AIC) to 3 (SDMA)"},
	} {
		_, err := Decode(c.payload)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || e.Error() != c.text {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUnknownDetector(t *testing.T) {
	r, err := Decode(tagged(3, 1, 9, math.MaxUint32, 1, 1<<63))
	if err == nil || r == nil {
		t.Fatal(r, err)
	}
	var v struct {
		List struct {
			Type json.Number   `json:"acc_type"`
			Data []json.Number `json:"data"`
		} `json:"acc_list"`
	}
	if err := json.Unmarshal(r.JSON(), &v); err != nil {
		t.Fatalf("%v in %s", err, r.JSON())
	}
	if v.List.Type != "9" || !reflect.DeepEqual(v.List.Data, []json.Number{"1", "9223372036854775808"}) {
		t.Errorf("%s", r.JSON())
	}
	r, _ = Decode(tagged(0, 1, 9, 0))
	if !json.Valid(r.JSON()) {
		t.Errorf("%s", r.JSON())
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(old(map[int]uint64{1040: 272, 512: 0x900}))
	f.Add(tagged(1, 1, 0, 112, make([]uint64, 14)...))
	f.Add(tagged(0, 1, 9, 88, 1, 2, 3))
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := Decode(payload)
		if r == nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(r.JSON()) {
			t.Fatalf("%s", r.JSON())
		}
		for i := range r.Blocks {
			Explain(&r.Blocks[i])
		}
	})
}
