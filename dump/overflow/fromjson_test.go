package overflow

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump"
)

// Recorded JSON is read and written again, byte by byte.
func TestDecodeRecordedJSON(t *testing.T) {
	files, err := filepath.Glob(cases + "/*/expected/*/files/out/Opdebug.*.json")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := DecodeJSON(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if got := r.JSON(); !bytes.Equal(got, text) {
			t.Errorf("%s: got\n%s", file, got)
		}
	}
}

func TestDecodeJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "missing",
		`[]`:                        "cannot unmarshal",
		`null`:                      "neither magic",
		`{"AI Core": 3}`:            "AI Core: json",
		`{"AI Core": {"task_id":`:   "unexpected end",
		`{"x": {}}`:                 "found neither magic nor DHA Atomic Add",
		`{"magic": "0x5a5a5a5a"}`:   "acc_list: missing",
		`{"magic":1,"acc_list":{}}`: `acc_type: found , expected AIC to SDMA`,
		`{"magic":1,"acc_list":{"acc_type":"AI Core"}}`:                   "acc_type: found \"AI Core\"",
		`{"magic":1,"acc_list":{"acc_type":"AIC","data":7}}`:              "data: json",
		`{"magic":1,"acc_list":{"acc_type":"AIC","data":{"task_id":-2}}}`: `AIC: task_id: found "-2"`,
		`{"AI Core":{"status":[1,"x"]}}`:                                  `AI Core: status: found "x"`,
	} {
		if r, err := DecodeJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %s", text, r, err, want)
		}
	}
}

// A record of which only the JSON is left finds its dump. Task and stream that
// are not in it are those of the name.
func TestConverted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("Opdebug.Node_OpDebug.8.2.1630000000002000.output.0.json", `{"magic": "0x5a5a5a5a", "version": 1, "acc_list": {"valid": 1, "acc_type": "AIV",
		"data": {"task_id": 5, "context_id": 65535, "status": [0, 4, 0, 0]}}}`)
	file("Opdebug.Node_OpDebug.7.3.1630000000003000.output.0.json", `{"AI Core": {"task_id": -1, "stream_id": 3, "status": 32}}`)
	file("Opdebug.Node_OpDebug.1.1.1630000000004000.output.0.json", `cut`)
	file("Opdebug.Node_OpDebug.1.1.1630000000005000.output.0.json", strings.Repeat(" ", maxPayload+1))
	file("Opdebug.Node_OpDebug.1.1.1630000000005000.output.0.npy", ``)
	file("Add.x.1.1.1630000000005000.output.0.json", `{}`)
	write(t, dir, "Opdebug.Node_OpDebug.1.1.1630000000001000", record(old(map[int]uint64{1040: 1})))
	file("Opdebug.Node_OpDebug.1.1.1630000000001000.output.0.json", `{}`)
	write(t, dir, "Add.a.5.2.1630000000002001", operator("a", []byte{0, 0x3c}, []byte{0, 0x7c}))
	write(t, dir, "Mul.b.7.3.1630000000003001", operator("b", []byte{0, 0x3c}, []byte{0, 0x7c}))
	tree, err := Find(dir)
	if err != nil || len(tree.Records) != 1 || len(tree.Converted) != 4 {
		t.Fatalf("%+v %v", tree, err)
	}
	tree.UseConverted()
	events := Analyse(tree, Options{})
	if len(events) != 5 {
		t.Fatal(len(events))
	}
	for i, want := range []string{"", "a", "b"} {
		if e := events[i]; e.Err != nil || want != "" && (len(e.Ops) != 1 || e.Ops[0].Name != want) {
			t.Errorf("%d: %+v", i, e)
		}
	}
	for _, e := range events[3:] {
		if dump.Code(e.Err) != CodeRecord {
			t.Error(e.Err)
		}
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"magic": 1, "acc_list": {"valid": 1, "acc_type": "AIV", "data": {"task_id": 5, "pc_start": "0x10", "status": [0, 4]}}}`))
	f.Add([]byte(`{"DHA Atomic Add": {"status": 1}, "AI Core": {"task_id": -1, "status": null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := DecodeJSON(text)
		if err != nil {
			return
		}
		first := r.JSON()
		again, err := DecodeJSON(first)
		if err != nil || !bytes.Equal(again.JSON(), first) {
			t.Errorf("%s\n%v", first, err)
		}
	})
}
