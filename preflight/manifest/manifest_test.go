package manifest

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, dir string, o Options) (string, *Summary) {
	t.Helper()
	var b bytes.Buffer
	sum, err := Write(context.Background(), &b, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), sum
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a/b": "one", "a.txt": "", "a-": "x", "tab\there": "two", "z/z/z": "three"})
	os.Symlink(dir, filepath.Join(dir, "z", "around"))
	os.Symlink(filepath.Join(dir, "a", "b"), filepath.Join(dir, "link"))
	os.Symlink("nowhere", filepath.Join(dir, "broken"))
	want := "# precision manifest 1 md5 sha256\n"
	for _, f := range []struct{ name, text string }{{"a/b", "one"}, {"a-", "x"}, {"a.txt", ""}, {"broken", "?"}, {"link", "one"}, {`tab\x09here`, "two"}, {"z/around", "?"}, {"z/z/z", "three"}} {
		if f.text == "?" {
			want += "-1\t-\t-\t" + f.name + "\n"
			continue
		}
		want += fmt.Sprintf("%d\t%x\t%x\t%s\n", len(f.text), md5.Sum([]byte(f.text)), sha256.Sum256([]byte(f.text)), f.name)
	}
	want += "# 8 files, 15 bytes, 2 unread\n"
	for _, workers := range []int{1, 7} {
		got, sum := write(t, dir, Options{Hashes: MD5 | SHA256, Workers: workers})
		if got != want || sum.UnreadCount != 2 || len(sum.Unread) != 2 {
			t.Errorf("%d workers\ngot\n%swant\n%s%+v", workers, got, want, sum)
		}
	}
}

// TestJournal: what an interrupted run has read is not read again, but for files
// that changed, and a torn line counts for nothing.
func TestJournal(t *testing.T) {
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "journal")
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("f%03d", i)] = fmt.Sprint(i)
	}
	put(t, dir, files)
	ctx, stop := context.WithCancel(context.Background())
	var b bytes.Buffer
	_, err := Write(ctx, &b, dir, Options{Hashes: MD5, Workers: 1, Journal: log, Progress: func(n int, _ int64) {
		if n == 20 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	file, _ := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	fmt.Fprintf(file, "1\t2\t%032x\t-\tf", 1) // torn
	file.Close()
	put(t, dir, map[string]string{"f005": "5"})
	os.Chtimes(filepath.Join(dir, "f005"), time.Time{}, time.Unix(1, 0))
	whole, _ := write(t, dir, Options{Hashes: MD5})
	// Files are read ahead of what is written, 64 of them at most.
	got, sum := write(t, dir, Options{Hashes: MD5, Journal: log})
	if got != whole || sum.Reused < 19 || sum.Reused > 100 {
		t.Errorf("%d of 300 reused\n%s", sum.Reused, got)
	}
	if _, sum := write(t, dir, Options{Hashes: MD5, Journal: log}); sum.Reused != 300 {
		t.Errorf("%d of 300 reused", sum.Reused)
	}
	for _, o := range []Options{{Hashes: SHA256, Journal: log}, {Hashes: MD5, Journal: log}} {
		other := dir
		if o.Hashes == MD5 {
			other = t.TempDir()
		}
		if _, err := Write(context.Background(), &b, other, o); err == nil || !strings.Contains(err.Error(), "start over") {
			t.Error(err)
		}
	}
	if err := Done(log); err != nil {
		t.Fatal(err)
	}
}

func TestDiff(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	put(t, a, map[string]string{"same": "1", "changed": "old", "gone": "g", "x/moved": "m", "long": "12"})
	put(t, b, map[string]string{"same": "1", "changed": "new", "new": "n", "y/moved": "m", "long": "123"})
	dir := t.TempDir()
	name := func(n, text string) string {
		put(t, dir, map[string]string{n: text})
		return filepath.Join(dir, n)
	}
	listA, _ := write(t, a, Options{Hashes: MD5})
	listB, _ := write(t, b, Options{Hashes: MD5 | SHA256})
	diff := func(x, y string) *Difference {
		d, err := Diff(context.Background(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	own := name("a", listA)
	d := diff(own, name("b", listB))
	if d.Same != 1 || d.Lists[Changed].Count != 2 || d.Lists[OnlyA].Count != 2 || d.Lists[OnlyB].Count != 2 || d.Lists[Moved].Count != 1 || d.Lists[Moved].Files[0].B.Path != "y/moved" || !d.Differs() {
		t.Errorf("%+v", d)
	}
	if d := diff(own, own); d.Differs() || d.Same != 5 {
		t.Errorf("%+v", d)
	}
	// As md5sum prints them, in any order.
	sums := fmt.Sprintf("%x  ./same\n%x *x/moved\n%x  changed\r\n", md5.Sum([]byte("1")), md5.Sum([]byte("m")), md5.Sum([]byte("old")))
	if d := diff(own, name("sums", sums)); d.Same != 3 || d.Lists[OnlyA].Count != 2 {
		t.Errorf("%+v", d)
	}
	if d := diff(own, name("paths", "same\n./gone\nother\n")); d.Lists[Unproven].Count != 2 || d.Lists[OnlyB].Count != 1 {
		t.Errorf("%+v", d)
	}
	if d := diff(name("paths", "a\nb\n"), name("paths2", "b\na\n")); d.Differs() {
		t.Errorf("%+v", d)
	}
	none, _ := write(t, a, Options{})
	if d := diff(name("none", none), own); d.Lists[Unproven].Count != 5 {
		t.Errorf("%+v", d)
	}
}

// TestBroken: a manifest that is not whole, or not one, is no basis.
func TestBroken(t *testing.T) {
	list := "# precision manifest 1 md5\n1\t-\t-\ta\n2\t-\t-\tb\n# 2 files, 3 bytes, 0 unread\n"
	for name, c := range map[string]struct{ text, want string }{
		"cut":     {strings.TrimSuffix(list, "# 2 files, 3 bytes, 0 unread\n"), "it was cut off"},
		"order":   {strings.Replace(list, "\tb", "\ta", 1), ":3: found a behind a"},
		"columns": {strings.Replace(list, "1\t-", "1 -", 1), ":2: found"},
		"size":    {strings.Replace(list, "1\t-", "-7\t-", 1), ":2: found the size"},
		"hash":    {strings.Replace(list, "1\t-", "1\tabc", 1), ":2: found"},
		"more":    {list + "3\t-\t-\tc\n", "behind the last line"},
		"long":    {"# precision manifest 1\n" + strings.Repeat("x", 2*maxLine), "more than 65536"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Diff(context.Background(), path, path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := Diff(context.Background(), t.TempDir(), "x"); err == nil {
		t.Error("a folder is taken for a manifest")
	}
}

func TestHashes(t *testing.T) {
	for text, want := range map[string]Hash{"md5": MD5, "sha256": SHA256, "md5, sha256": MD5 | SHA256, "none": 0} {
		if got, err := ParseHashes(text); err != nil || got != want {
			t.Error(text, got, err)
		}
	}
	if _, err := ParseHashes("sha1"); err == nil {
		t.Error("sha1 is taken")
	}
}
