package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"precision/compare/report"
	"precision/compare/verdict"
	"precision/run"
)

// TestPage: what compare -html writes can be read again, and is found as the
// newest report of a folder.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	sample := "../../testdata/sample/"
	call := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if got := execute(t.Context(), env{stdout: &out, stderr: &errs, lang: "en"}, args); got != exitOK {
			t.Fatalf("%v: status %d\n%s", args, got, errs.String())
		}
		return out.String()
	}
	call("compare", "-lt", sample+"npu", "-rt", sample+"golden", "-g", sample+"ge_proto_00000001_graph_1_Build.txt", "-out", dir, "-json", file("v.json"), "-html", file("v.html"))
	want, err := os.ReadFile(file("v.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := call("report", file("v.html"), "-json", "-"); got != string(want) {
		t.Error("report -json - of a page is not what compare -json wrote")
	}
	call("report", file("v.json"), "-html", file("w.html"))
	saved, _, err := run.OpenAny(file("w.html"))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := report.WriteJSON(&again, verdict.Judge(saved.Table, verdict.Options{})); err != nil || again.String() != string(want) {
		t.Errorf("the page of a saved table holds another: %v", err)
	}

	for name, age := range map[string]time.Duration{"v.html": time.Hour, "w.html": time.Minute} {
		at := time.Now().Add(-age)
		if err := os.Chtimes(file(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file("other.html"), []byte("<!doctype html><p>another page"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := newestPage(dir); err != nil || filepath.Base(found) != "w.html" {
		t.Errorf("the newest report is %s, %v", found, err)
	}
	if _, err := newestPage(t.TempDir()); err == nil || !strings.Contains(err.Error(), "found no report") {
		t.Errorf("a folder without reports: %v", err)
	}
	if _, err := newestPage(file("v.json")); err == nil || !strings.Contains(err.Error(), "precision report") {
		t.Errorf("a table in place of a report: %v", err)
	}
}

// TestServed: only who knows the token and asks this host gets the page.
func TestServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte("the page"), 0o600); err != nil {
		t.Fatal(err)
	}
	handler := pageHandler(path, "SECRET", "127.0.0.1:4321")
	for _, c := range []struct {
		method, host, path string
		status             int
	}{
		{"GET", "127.0.0.1:4321", "/SECRET/", 200}, {"GET", "localhost:4321", "/SECRET", 200}, {"HEAD", "127.0.0.1:4321", "/SECRET/", 200},
		{"GET", "127.0.0.1:4321", "/", 404}, {"GET", "127.0.0.1:4321", "/SECRE", 404}, {"GET", "127.0.0.1:4321", "/SECRET/../page.html", 404},
		{"GET", "evil.example:4321", "/SECRET/", 404}, {"POST", "127.0.0.1:4321", "/SECRET/", 404},
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+c.path, nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status || (c.status == http.StatusOK && c.method == "GET") != (w.Body.String() == "the page") {
			t.Errorf("%s %s%s: status %d, body %q", c.method, c.host, c.path, w.Code, w.Body.String())
		}
	}
}
