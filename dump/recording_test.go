package dump

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folderOf makes a folder of golden arrays; a file is "op@second".
func folderOf(t *testing.T, files string) *Folder {
	t.Helper()
	dir := t.TempDir()
	for _, f := range strings.Fields(files) {
		op, second, _ := strings.Cut(f, "@")
		var n int
		fmt.Sscan(second, &n)
		name := fmt.Sprintf("%s.0.%d.npy", op, 1630000000000000+n*1000000)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := Scan(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestRecordings(t *testing.T) {
	for _, c := range []struct {
		name, files string
		want        string // first-last:ops, the one that is taken in brackets
	}{
		{"one", "a@0 b@1 c@9", "[0-9:3]"},
		{"two", "a@0 b@1 c@2 a@100 b@101 c@102", "0-2:3 [100-102:3]"},
		{"in another order", "a@0 b@1 c@2 c@100 b@101 a@102", "0-2:3 [100-102:3]"},
		{"the newer one began with what the older has not", "b@1 c@2 d@3 e@4 a@100 b@101 c@102 d@103 e@104", "1-4:4 [100-104:5]"},
		{"the newer one is not complete", "a@0 b@1 c@2 d@3 b@100", "[0-3:4] 100-100:1"},
		{"three", "a@0 b@1 a@50 b@51 a@100 b@101", "0-1:2 50-51:2 [100-101:2]"},
		{"a loop: no group of files is a run", "a@0 b@1 l@2 l@3 l@4 c@5 d@6 e@7", ""},
		{"the same time", "a@5 b@5", "[5-5:2]"},
	} {
		folder := folderOf(t, c.files)
		list := folder.Recordings()
		newest := Newest(list)
		var got []string
		for i, r := range list {
			text := fmt.Sprintf("%d-%d:%d", (r.First-1630000000000000)/1000000, (r.Last-1630000000000000)/1000000, r.Ops)
			if i == newest {
				text = "[" + text + "]"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if newest < 0 {
			continue
		}
		for _, op := range folder.Take(list[newest]).Ops {
			if len(op.Files) != 1 {
				t.Errorf("%s: %d files of %s", c.name, len(op.Files), op.Key)
			}
		}
	}
}
