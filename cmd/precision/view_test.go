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

	"precision/compare/job"
	"precision/compare/report"
	"precision/compare/verdict"
	"precision/internal/msg"
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
	newestPage := func(path string) (string, error) { return newestPage(t.Context(), msg.English, path) }
	if found, err := newestPage(dir); err != nil || filepath.Base(found) != "w.html" {
		t.Errorf("the newest report is %s, %v", found, err)
	}
	if _, err := newestPage(t.TempDir()); err == nil || !strings.Contains(err.Error(), "found no report") {
		t.Errorf("a folder without reports: %v", err)
	}
	if found, err := newestPage(file("w.html")); err != nil || filepath.Base(found) != "w.html" {
		t.Errorf("a page leads to %s, %v", found, err)
	}

	// A saved table has the page beside it, unless that is of an earlier result; a check's is made; other JSON has none.
	verdictOf := func() string {
		t.Helper()
		found, err := newestPage(file("v.json"))
		if err != nil || filepath.Base(found) != "v.html" {
			t.Fatalf("a table leads to %s, %v", found, err)
		}
		saved, _, err := run.OpenAny(found)
		if err != nil {
			t.Fatal(err)
		}
		return verdict.Judge(saved.Table, verdict.Options{}).Verdict.String()
	}
	if got := verdictOf(); got != "bad" {
		t.Errorf("the page beside it is %s", got)
	}
	call("compare", "-lt", sample+"npu", "-rt", sample+"npu", "-out", dir, "-json", file("u.json"), "-html", file("u.html"))
	if err := os.Rename(file("u.html"), file("v.html")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file("v.html"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if saved, _, err := run.OpenAny(file("v.html")); err != nil || verdict.Judge(saved.Table, verdict.Options{}).Verdict != verdict.Good {
		t.Fatalf("the page of an earlier result is not good: %v", err)
	}
	if got := verdictOf(); got != "bad" {
		t.Errorf("a page of an earlier result is shown, which is %s", got)
	}
	call("check", sample+"npu", "-g", sample+"ge_proto_00000001_graph_1_Build.txt", "-out", dir, "-json", file("c.json"))
	if found, err := newestPage(file("c.json")); err != nil || filepath.Base(found) != "c.html" || !run.IsPage(found) {
		t.Errorf("a check leads to %s, %v", found, err)
	} else if page, err := os.ReadFile(found); err != nil || !strings.Contains(unzipped(t, page), `"states":"g`) || !strings.Contains(unzipped(t, page), `"dtype":["float`) {
		t.Errorf("the page of a saved check tells no types: %v", err)
	}
	writeAll(t, map[string]string{file("a.yaml"): "lr: 1\n"})
	call("preflight", "diff", file("a.yaml"), file("a.yaml"), "-json", file("p.json"))
	if _, err := newestPage(file("p.json")); err == nil || !strings.Contains(err.Error(), "found no report") {
		t.Errorf("JSON of which no page can be made: %v", err)
	}
}

// TestViewJob: the folder of a job leads to its page, not to that of a part, though that be newer; its file of JSON, too.
func TestViewJob(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		writeAll(t, map[string]string{filepath.Join(dir, name): text})
	}
	page := `<!doctype html><script type="application/gzip;base64" id="precision"></script>`
	put(job.ResultFile, `{"schema":"`+job.Schema+`"}`)
	if _, err := newestPage(t.Context(), msg.English, filepath.Join(dir, job.ResultFile)); err == nil || !strings.Contains(err.Error(), job.PageFile) {
		t.Errorf("a job without a page: %v", err)
	}
	put(job.PageFile, page)
	put("tables/step0_rank0.html", page)
	for _, path := range []string{dir, filepath.Join(dir, job.ResultFile)} {
		if found, err := newestPage(t.Context(), msg.English, path); err != nil || filepath.Base(found) != job.PageFile {
			t.Errorf("%s leads to %s, %v", path, found, err)
		}
	}
}

// TestServed: only who knows the token and asks this host gets the page.
func TestServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte("the page"), 0o600); err != nil {
		t.Fatal(err)
	}
	part := "<p>the part" + `<script type="application/gzip;base64" id="precision"></script>`
	writeAll(t, map[string]string{filepath.Join(filepath.Dir(path), "tables", "a b.html"): part, filepath.Join(filepath.Dir(path), "secret.html"): "no report"})
	handler := pageHandler(path, "SECRET", "127.0.0.1:4321")
	for _, c := range []struct {
		method, host, path string
		status             int
	}{
		{"GET", "127.0.0.1:4321", "/SECRET/", 200}, {"GET", "localhost:4321", "/SECRET", 200}, {"HEAD", "127.0.0.1:4321", "/SECRET/", 200},
		{"GET", "127.0.0.1:4321", "/", 404}, {"GET", "127.0.0.1:4321", "/SECRE", 404}, {"GET", "127.0.0.1:4321", "/SECRET/../page.html", 404},
		{"GET", "evil.example:4321", "/SECRET/", 404}, {"POST", "127.0.0.1:4321", "/SECRET/", 404},
		{"GET", "127.0.0.1:4321", "/SECRET/secret.html", 404}, {"GET", "127.0.0.1:4321", "/SECRET/tables", 404}, {"GET", "127.0.0.1:4321", "/SECRET/tables/none.html", 404},
		{"GET", "127.0.0.1:4321", "/SECRET/../" + filepath.Base(filepath.Dir(path)) + "/tables/a%20b.html", 404}, {"GET", "127.0.0.1:4321", "/SECRE/tables/a%20b.html", 404},
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+c.path, nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status || (c.status == http.StatusOK && c.method == "GET") != (w.Body.String() == "the page") {
			t.Errorf("%s %s%s: status %d, body %q", c.method, c.host, c.path, w.Code, w.Body.String())
		}
	}
	r := httptest.NewRequest("GET", "http://127.0.0.1:4321/SECRET/tables/a%20b.html", nil)
	w := httptest.NewRecorder()
	if handler.ServeHTTP(w, r); w.Code != http.StatusOK || w.Body.String() != part {
		t.Errorf("the page of a part: status %d, body %q", w.Code, w.Body.String())
	}
}
