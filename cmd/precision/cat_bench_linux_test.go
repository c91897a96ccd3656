package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkResNet50: the whole command, warm cache, against cat of the files it
// reads. Target: at most 2.
func BenchmarkResNet50(b *testing.B) {
	data := os.Getenv("RESNET50_DUMP")
	if data == "" {
		b.Skip("RESNET50_DUMP names a folder made by resnet50_dump.py")
	}
	againstCat(b, filepath.Join(data, "npu", "debug_0", "dump"), filepath.Join(data, "golden"), filepath.Join(data, "graph.txt"))
}

// BenchmarkNetwork: the same for the network of testdata/network, in which layouts and element
// types vary. Target: at most 2.5.
func BenchmarkNetwork(b *testing.B) {
	data := b.TempDir()
	make := exec.Command("go", "run", "../../testdata/network", "-out", data)
	if out, err := make.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	againstCat(b, filepath.Join(data, "npu"), filepath.Join(data, "golden"), filepath.Join(data, "graph.txt"))
}

// againstCat runs the command and cat in turn, and relates the medians of their times; and the bytes that the command
// reads to those of the files.
func againstCat(b *testing.B, npu, golden, graph string) {
	var files []string
	size := int64(0)
	for _, dir := range []string{npu, golden} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files = append(files, path)
				info, err := e.Info()
				if err != nil {
					return err
				}
				size += info.Size()
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	program := filepath.Join(b.TempDir(), "precision")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var wall, cpu [2][]time.Duration
	read := int64(0)
	for b.Loop() {
		for i, c := range []*exec.Cmd{
			exec.Command(program, "compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", b.TempDir()),
			exec.Command("cat", files...),
		} {
			start := time.Now()
			n, err := readBytes(c)
			if err != nil {
				b.Fatal(err)
			}
			if i == 0 {
				read = n
			}
			wall[i] = append(wall[i], time.Since(start))
			cpu[i] = append(cpu[i], c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2])
	}
	b.ReportMetric(median(wall[0])/median(wall[1]), "times_cat")
	b.ReportMetric(median(cpu[0])/median(cpu[1]), "times_cat_cpu")
	b.ReportMetric(float64(read)/float64(size), "bytes_read/byte")
}

// readBytes runs a command and tells how many bytes it asked the system for: rchar of
// /proc/PID/io, which stays while the process has ended and is not waited for.
func readBytes(c *exec.Cmd) (n int64, err error) {
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", c.Process.Pid))
	if err == nil {
		_, err = fmt.Sscanf(string(io), "rchar: %d", &n)
	}
	return n, errors.Join(ended, err, c.Wait())
}
