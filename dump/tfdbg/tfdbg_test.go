package tfdbg

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// framed is data as the one record of a file, with its length and checksums.
func framed(data []byte) []byte {
	sum := func(b []byte) uint32 {
		crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (crc>>15 | crc<<17) + 0xa282ead8
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, sum(out))
	return binary.LittleEndian.AppendUint32(append(out, data...), sum(data))
}

// FuzzRead: whatever an event of a file holds, elements lie within it, and there are no more traces than bytes.
func FuzzRead(f *testing.F) {
	made := filepath.Join("..", "..", "testdata", "frameworks", "made", "tfdbg")
	_ = filepath.WalkDir(made, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < 16 {
			return err
		}
		if n := binary.LittleEndian.Uint64(b); n <= uint64(len(b)-16) {
			f.Add(b[12 : 12+n])
		}
		return nil
	})
	f.Add([]byte("\x52\x00"))
	f.Fuzz(func(t *testing.T, event []byte) {
		dir := t.TempDir()
		files := []string{prefix + "1" + ofGraphs, prefix + "1" + ofTraces}
		for _, name := range files {
			if err := os.WriteFile(filepath.Join(dir, name), framed(event), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Read(dir, files)
		if err != nil {
			return
		}
		size := int64(len(event)) + 16
		if int64(len(r.Traces)) > size {
			t.Errorf("%d traces of %d bytes", len(r.Traces), size)
		}
		for _, x := range r.Traces {
			if x.Offset < 0 || x.Size < 0 || x.Offset+x.Size > size {
				t.Errorf("%d bytes at %d of a file of %d", x.Size, x.Offset, size)
			}
			r.Lines(x.Op)
			r.Made(x.Op)
		}
	})
}

// TestMade: what goes into an operator is told as the graph has it, what reads a variable gets what was written to it
// before, and arguments of inner functions come from outside.
func TestMade(t *testing.T) {
	message := func(fields ...any) (b []byte) { // number, then text or number
		for i := 0; i < len(fields); i += 2 {
			num := protowire.Number(fields[i].(int))
			switch v := fields[i+1].(type) {
			case string:
				b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
			case int:
				b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
			}
		}
		return b
	}
	op := func(graph, typ, name string, outputs int, inputs ...string) []byte {
		fields := []any{1, typ, 2, name, 4, graph, 7, outputs}
		for _, in := range inputs {
			fields = append(fields, 6, in)
		}
		return framed(message(graphOp, string(message(fields...))))
	}
	inside := func(id, outer string) []byte { return framed(message(graph, string(message(1, id, 6, outer)))) }
	file := slices.Concat(inside("all", ""), inside("step", "all"), inside("body", "step"),
		op("step", "Placeholder", "v", 1),
		op("step", "ReadVariableOp", "early", 1, "v:0"),
		op("step", "AssignSubVariableOp", "write", 0, "v:0", "early:0"),
		op("step", "ReadVariableOp", "late", 1, "v:0", "^write"),
		op("step", "AssignVariableOp", "anew", 0, "v:0", "late:0"),
		op("step", "ReadVariableOp", "latest", 1, "v:0"),
		op("step", "Placeholder", "u", 1),
		op("step", "ResourceGather", "rows", 1, "u:0", "late:0"),
		op("step", "Split", "split", 2, "late:0"),
		op("step", "Add", "add", 1, "split:1", "split:0"),
		op("body", "Placeholder", "arg", 1),
		op("body", "Relu", "add2", 1, "arg"),
		// Of two graphs: made alike in both, otherwise, and taken from one by what is in that alone.
		op("step", "Mul", "alike", 1, "add:0"), op("other", "Mul", "alike", 1, "add:0"),
		op("step", "Mul", "unlike", 1, "add:0"), op("other", "Mul", "unlike", 1, "late:0"), op("step", "Neg", "of unlike", 1, "unlike:0", "alike:0"),
		op("step", "Mul", "ran", 1, "add:0"), op("other", "Mul", "ran", 1, "late:0"), op("step", "Neg", "of ran", 1, "ran:0"),
		framed(message(traced, string(message(1, "step", 2, "ran")))),
	)
	dir, name := t.TempDir(), prefix+"1"+ofGraphs
	if err := os.WriteFile(filepath.Join(dir, name), file, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir, []string{name})
	if err != nil || len(r.Damaged) > 0 {
		t.Fatal(err, r.Damaged)
	}
	for op, want := range map[string]string{
		"v": "Placeholder []", "early": "ReadVariableOp [{v before 0}]", "late": "ReadVariableOp [{v before 0} {early 0}]", "latest": "ReadVariableOp [{v 0} {early 0} {late 0}]",
		"rows": "ResourceGather [{u before 0} {late 0}]", "add": "Add [{split 1} {split 0}]",
		"arg": "_Arg [{body 0}]", "add2": "Relu [{arg 0}]", "none": " []",
		"alike": "Mul [{other/add 0}]", "unlike": " []", "of unlike": "Neg [{step/unlike 0} {step/alike 0}]", "ran": "Mul [{add 0}]", "of ran": "Neg [{ran 0}]",
	} {
		typ, inputs := r.Made(op)
		if got := fmt.Sprint(typ, " ", inputs); got != want {
			t.Errorf("%s: %s, expected %s", op, got, want)
		}
	}
}
