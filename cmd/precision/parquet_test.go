package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

// parquetRows opens a Parquet file and counts its rows.
func parquetRows(t *testing.T, path string) int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := pq.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return p.NumRows()
}

// csvRows counts the rows of the table in a folder.
func csvRows(t *testing.T, pattern string) (n int64) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d tables, %v", pattern, len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n += int64(strings.Count(string(text), "\r\n")) - 1
	}
	return n
}

// Whatever writes a table writes it as Parquet, too, with as many rows.
func TestParquet(t *testing.T) {
	dir := t.TempDir()
	table, saved, again, check := filepath.Join(dir, "t.parquet"), filepath.Join(dir, "t.json"), filepath.Join(dir, "again.parquet"), filepath.Join(dir, "check.parquet")
	for _, words := range [][]string{
		{"compare", sample + "/npu", sample + "/golden", "-out", dir, "-parquet", table, "-json", saved},
		{"report", saved, "-parquet", again},
		{"check", sample + "/npu", "-g", sampleGraph, "-out", dir, "-parquet", check},
	} {
		if code, _, stderr := precision(t, words...); code != exitOK || stderr != "" {
			t.Fatalf("%q: exit %d: %s", words, code, stderr)
		}
	}
	rows := csvRows(t, filepath.Join(dir, "result_*.csv"))
	for path, want := range map[string]int64{table: rows, again: rows, check: csvRows(t, filepath.Join(dir, "check_*.csv"))} {
		if got := parquetRows(t, path); got != want {
			t.Errorf("%s: %d rows, expected %d", path, got, want)
		}
	}
	a, _ := os.ReadFile(table)
	if b, _ := os.ReadFile(again); len(a) == 0 || string(a) != string(b) {
		t.Error("report writes another table than compare")
	}
	before, _ := os.ReadFile(saved)
	for _, words := range [][]string{
		{"report", saved, "-parquet", saved},
		{"compare", sample + "/npu", sample + "/golden", "-out", dir, "-parquet", again, "-json", again},
		{"check", sample + "/npu", "-g", sampleGraph, "-out", dir, "-parquet", sampleGraph},
	} {
		if code, stdout, stderr := precision(t, words...); code == exitOK || stdout != "" || !strings.Contains(stderr, "output") {
			t.Errorf("%q: exit %d: %s%s", words, code, stdout, stderr)
		}
	}
	if after, _ := os.ReadFile(saved); string(after) != string(before) {
		t.Error("the input was replaced")
	}
}

// The table of a job has the rows of all its parts, whether they ran here or in shards.
func TestJobParquet(t *testing.T) {
	_, args := madeJob(t)
	work := t.TempDir()
	whole, merged := filepath.Join(work, "whole.parquet"), filepath.Join(work, "merged.parquet")
	for _, words := range [][]string{
		append(args, "-out", work+"/all", "-parquet", whole),
		append(args, "-out", work+"/1", "-shard", "1/2"),
		append(args, "-out", work+"/2", "-shard", "2/2"),
		{"merge", work + "/1", work + "/2", "-out", work + "/merged", "-parquet", merged},
	} {
		if code, _, stderr := precision(t, words...); code != exitOK {
			t.Fatalf("%q: exit %d: %s", words, code, stderr)
		}
	}
	want := csvRows(t, filepath.Join(work, "all/tables/*.csv"))
	for _, path := range []string{whole, merged} {
		if got := parquetRows(t, path); got != want {
			t.Errorf("%s: %d rows, expected %d", path, got, want)
		}
	}
	if code, _, stderr := precision(t, append(args, "-out", work+"/3", "-shard", "1/2", "-parquet", whole)...); code != exitUsage || !strings.Contains(stderr, "merge") {
		t.Errorf("a shard: exit %d: %s", code, stderr)
	}
}
