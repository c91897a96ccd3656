package repl

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// opens counts how often the system is asked to open the files and folders below
// the current folder.
type opens struct {
	t     *testing.T
	fd    int
	dirs  map[int32]string
	count map[string]int
}

func watchOpens(t *testing.T) *opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	o := &opens{t, fd, map[int32]string{}, map[string]int{}}
	t.Cleanup(func() { unix.Close(fd) })
	var dirs []string
	filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	for _, dir := range dirs {
		// Two events alike in a row are told as one; that of closing stands between.
		wd, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CLOSE)
		if err != nil {
			t.Skip(err)
		}
		o.dirs[int32(wd)] = dir
	}
	return o
}

// read takes in what happened since.
func (o *opens) read() {
	var buf [1 << 16]byte
	for {
		n, err := unix.Read(o.fd, buf[:])
		if err != nil || n <= 0 {
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			at += unix.SizeofInotifyEvent
			name := strings.TrimRight(string(buf[at:at+int(e.Len)]), "\x00")
			at += int(e.Len)
			if e.Mask&unix.IN_Q_OVERFLOW != 0 {
				o.t.Fatal("events were lost")
			}
			// A folder's own event comes to its parent, too.
			if e.Mask&unix.IN_OPEN != 0 && (e.Mask&unix.IN_ISDIR == 0 || name == "") {
				o.count[filepath.Join(o.dirs[e.Wd], name)]++
			}
		}
	}
}

// TestOpensOnce: a command lists a folder, parses a graph and opens a recording
// that it shows once, whatever parts of the program want to know of it.
func TestOpensOnce(t *testing.T) {
	const (
		graphFile = "precision_data/npu/debug_0/graph/ge_proto_00000001_graph_1_Build.txt"
		dumps     = "precision_data/npu/debug_0/dump/" + sampleRun + "/0/sample_net_1/1/0"
		golden    = "precision_data/tf/dump"
		conv      = dumps + "/Conv2D.block2_conv.11.1.1630000000011000"
	)
	for _, c := range []struct {
		command string
		opened  []string // these are, of the others no folder of the data twice
	}{
		{"vc", []string{graphFile, dumps, golden}},
		{"ac", []string{graphFile, dumps}},
		{"ls", []string{graphFile}},
		{"ls dump", []string{dumps}},
		{"ni block2/conv", []string{graphFile, dumps, golden, conv}},
		{"pt " + filepath.Base(conv), []string{dumps, golden, conv}},
		{"dc block2/conv", []string{dumps, conv}},
		{"cp " + filepath.Base(conv) + ".output.0 block2_conv.0", []string{dumps, golden, conv}},
	} {
		t.Run(c.command, func(t *testing.T) {
			cfg, out, errs := sampleConfig(t)
			o := watchOpens(t)
			s := open(cfg)
			if code := s.line(context.Background(), c.command); code != exitOK {
				t.Fatalf("exit status %d\n%s%s", code, out, errs)
			}
			o.read()
			for _, path := range c.opened {
				if o.count[path] != 1 {
					t.Errorf("%s was opened %d times", path, o.count[path])
				}
			}
			for path, n := range o.count {
				info, err := os.Stat(path)
				if err == nil && info.IsDir() && n > 1 && !strings.Contains(path, "temp") {
					t.Errorf("%s was listed %d times", path, n)
				}
			}
		})
	}
}
