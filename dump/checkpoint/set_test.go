package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/dump/torch"
)

// safe is a safetensors file.
func safe(header string, data []byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

const twoTensors = `{"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},"b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}}`

var halves = []byte{0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44} // 1, 2, 3, 4 as float16

// numbers reads all tensors of a set.
func numbers(s *Set) (all map[string][]float64, err error) {
	all = map[string][]float64{}
	for _, t := range s.Tensors {
		n, err := t.Numbers()
		if err != nil {
			return nil, err
		}
		all[t.Name] = make([]float64, t.Len())
		if err := n.Read(all[t.Name], 0); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func TestOpen(t *testing.T) {
	file := map[string][]byte{"x.safetensors": safe(twoTensors, append(slices.Clone(halves), 7, 0, 0, 0, 0, 0, 0, 0))}
	var array, pt, stored, deflated bytes.Buffer
	if err := npy.Write(&array, dtype.Float16, []int64{2, 2}, halves); err != nil {
		t.Fatal(err)
	}
	if err := torch.Write(&pt, dtype.Float16, []int64{2, 2}, bytes.NewReader(halves)); err != nil {
		t.Fatal(err)
	}
	for method, to := range map[uint16]*bytes.Buffer{zip.Store: &stored, zip.Deflate: &deflated} {
		z := zip.NewWriter(to)
		w, err := z.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(array.Bytes())
		z.Close()
	}
	file["a.npy"], file["a.pt"], file["s.npz"], file["d.npz"] = array.Bytes(), pt.Bytes(), stored.Bytes(), deflated.Bytes()
	for name, content := range file {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer s.Close()
		if v, err := numbers(s); err != nil || !slices.Equal(v["a"], []float64{1, 2, 3, 4}) || name[0] == 'x' && v["b"][0] != 7 {
			t.Errorf("%s: read %v: %v", name, v, err)
		}
		// Cut anywhere, a file is refused or what is left reads as it is; never more than there is.
		for n := range content {
			if err := os.WriteFile(path, content[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path)
			if err != nil {
				if !strings.Contains(err.Error(), path) {
					t.Errorf("%s cut to %d: %v does not name the file", name, n, err)
				}
				continue
			}
			if v, err := numbers(s); err == nil {
				t.Errorf("%s cut to %d of %d bytes was read: %v", name, n, len(content), v)
			}
			s.Close()
		}
	}
}

func TestDamagedSafetensors(t *testing.T) {
	for name, header := range map[string]string{
		"outside":      `{"a":{"dtype":"F16","shape":[2,2],"data_offsets":[8,16]}}`,
		"negative":     `{"a":{"dtype":"F16","shape":[2,2],"data_offsets":[-8,0]}}`,
		"huge":         `{"a":{"dtype":"F16","shape":[4611686018427387904,4],"data_offsets":[0,8]}}`,
		"another size": `{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,8]}}`,
		"no type":      `{"a":{"dtype":"F12","shape":[4],"data_offsets":[0,8]}}`,
		"twice":        `{"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}`,
		"no object":    `{"a":[1,2]}`,
		"open":         `{"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}`,
	} {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		if err := os.WriteFile(path, safe(header, halves), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path); err == nil {
			t.Errorf("%s: opened %d tensors", name, len(s.Tensors))
			s.Close()
		}
	}
}

// TestShards opens a folder by its index, and refuses one whose index names what is not there, or what lies elsewhere.
func TestShards(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"a", "b"} {
		put(n+".safetensors", string(safe(fmt.Sprintf(`{"%s":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}`, n), halves)))
	}
	put("model.safetensors.index.json", `{"weight_map":{"a":"a.safetensors","b":"b.safetensors"}}`)
	s, err := Open(dir)
	if err != nil || len(s.Tensors) != 2 {
		t.Fatalf("opened %+v: %v", s, err)
	}
	s.Close()
	for index, want := range map[string]string{
		`{"weight_map":{"a":"a.safetensors","c":"c.safetensors"}}`: "c.safetensors",
		`{"weight_map":{"a":"../a.safetensors"}}`:                  "../a.safetensors",
		`[1]`: "index.json",
	} {
		put("model.safetensors.index.json", index)
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not name %s", index, err, want)
		}
	}
	os.Remove(filepath.Join(dir, "model.safetensors.index.json"))
	put("c.safetensors", string(safe(`{"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}`, halves)))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "c.safetensors") {
		t.Errorf("two files with one tensor: %v", err)
	}
}
