package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mostWheel is how large a wheel may be.
const mostWheel = 20 << 20

// testWheels: every platform has a wheel with tags that pip knows, whose record names every member with its hash and size, whose program is
// the one of the release; the one of this machine installs without a network and runs.
func testWheels(t *testing.T, dir string, targets []string) {
	b := &build{out: dir}
	for _, target := range targets {
		path := one(t, dir, "*-py3-none-"+wheelTags[target][0]+"*.whl")
		if info, err := os.Stat(path); err != nil || info.Size() > mostWheel {
			t.Errorf("%s: %v, %v", path, info.Size(), err)
		}
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		content := map[string]string{}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := content[f.Name]; twice {
				t.Errorf("%s holds %s twice", path, f.Name)
			}
			content[f.Name] = string(text)
			if program := strings.HasPrefix(f.Name, "precision/bin/"); program != (f.Mode().Perm() == 0o755) || !f.Mode().IsRegular() {
				t.Errorf("%s: %s has the mode %v", path, f.Name, f.Mode())
			}
		}
		about := strings.Join(strings.Split(filepath.Base(path), "-")[:2], "-") + ".dist-info/"
		lines, err := csv.NewReader(strings.NewReader(content[about+"RECORD"])).ReadAll()
		if err != nil || len(lines) != len(content) {
			t.Fatalf("%s: %d lines for %d members: %v", path, len(lines), len(content), err)
		}
		for _, line := range lines {
			text, ok := content[line[0]]
			sum := sha256.Sum256([]byte(text))
			want := []string{"sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(text))}
			if line[0] == about+"RECORD" {
				want = []string{"", ""}
			}
			if !ok || line[1] != want[0] || line[2] != want[1] {
				t.Errorf("%s: the record says %q, expected %q", path, line, want)
			}
		}
		for _, tag := range wheelTags[target] {
			if !strings.Contains(filepath.Base(path), tag) || !strings.Contains(content[about+"WHEEL"], "\nTag: py3-none-"+tag+"\n") {
				t.Errorf("%s does not say %s in its name and in WHEEL", path, tag)
			}
		}
		program := b.program(target, "precision")
		if content["precision/bin/"+filepath.Base(program)] != read(t, program) {
			t.Errorf("%s has another program", path)
		}
		for _, want := range []string{"precision/__init__.py", "precision/__main__.py", "precision/py.typed", about + "METADATA", about + "licenses/LICENSE"} {
			if _, ok := content[want]; !ok {
				t.Errorf("%s has no %s", path, want)
			}
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	if out, err := exec.Command(python, "-c", "import ensurepip, sys, sysconfig; assert sys.version_info >= (3, 9) and sysconfig.get_platform() == 'linux-x86_64'").CombinedOutput(); err != nil {
		t.Skipf("no wheel can be installed: %s", out)
	}
	venv := filepath.Join(t.TempDir(), "venv")
	in := filepath.Join(venv, "bin", "python")
	for _, words := range [][]string{
		{python, "-m", "venv", venv},
		{in, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", dir, "precision"},
		{in, "-m", "precision", "version"},
		{filepath.Join(venv, "bin", "precision"), "version"},
		{in, "-c", "import precision; r = precision.compare('npu', 'golden', 'ge_proto_00000001_graph_1_Build.txt'); assert [x.op for x in r.roots] == ['block2/conv'], r"},
	} {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = filepath.Join("..", "..", "testdata", "sample")
		cmd.Env = append(os.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "PYTHONPATH=", "PRECISION_BINARY=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", words, err, out)
		}
	}
}

// TestSection: the notes of a release are its part of the change log; what has no release yet is told of builds between.
func TestSection(t *testing.T) {
	log := "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [1.1.0] - 2026-01-01\n\n### Added\n\n- old\n\n## [1.0.0]\n\n- first\n"
	for version, want := range map[string]string{"1.1.0": "### Added\n\n- old", "1.0.0": "- first", "1.1.0~rc1": "- new", "0.0.0~20260102030405.0123456789ab": "- new"} {
		if got, err := section(log, version); err != nil || got != "## What is new\n\n"+want+"\n" {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	if got, err := section("# Changelog\n", "1.0.0"); err == nil {
		t.Errorf("no section: %q", got)
	}
}

func TestWheelVersion(t *testing.T) {
	for v, want := range map[string]string{
		"1.2.3":                               "1.2.3",
		"1.2.3~rc1":                           "1.2.3rc1",
		"1.2.3~rc.1":                          "1.2.3rc1",
		"1.2.3~alpha":                         "1.2.3a0",
		"1.2.3~odd":                           "1.2.3.dev0+odd",
		"0.0.0~20260102030405.0123456789ab":   "0.0.0.dev20260102030405+0123456789ab",
		"1.2.4~0.20260102030405.0123456789ab": "1.2.4.dev20260102030405+0123456789ab",
	} {
		if got := wheelVersion(v); got != want {
			t.Errorf("%s: got %s, expected %s", v, got, want)
		}
	}
}
