package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestExamples runs the script of every example.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples are scripts of a Unix shell")
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "precision")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", program, "./cmd/precision")
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	scripts, err := filepath.Glob(filepath.Join(repo, "examples", "*", "run.sh"))
	if err != nil || len(scripts) < 6 {
		t.Fatalf("found %q, %v", scripts, err)
	}
	list := read(t, filepath.Join(repo, "examples", "README.md"))
	for _, script := range scripts {
		dir := filepath.Dir(script)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			if own := read(t, filepath.Join(dir, "README.md")); !strings.Contains(own, "sh examples/"+name+"/run.sh") || !strings.Contains(list, "]("+name+")") {
				t.Error("a README does not tell of it")
			}
			cmd := exec.Command("sh", script)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PRECISION="+program)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestOneLiners runs the lines of the README of read-json on the verdict of the sample.
func TestOneLiners(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq")
	}
	text := read(t, filepath.Join("..", "..", "examples", "read-json", "README.md"))
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(text)
	if block == nil {
		t.Fatal("no lines")
	}
	dir := t.TempDir()
	verdict := `{"verdict": "bad", "operators": [{"op": "a", "state": "good"}, {"op": "b", "state": "bad"}], "coverage": {"compared": 2, "expected": 2}}`
	if err := os.WriteFile(filepath.Join(dir, "verdict.json"), []byte(verdict), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-euc", block[1])
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "bad\nb\ntrue\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPipelines: the files for CI systems are such files, and all run the command that
// the example runs.
func TestPipelines(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "gate-ci")
	gate := read(t, filepath.Join(dir, "gate.sh"))
	command := gate[strings.Index(gate, "\nprecision compare")+1:]
	command = strings.TrimSpace(command)

	var github struct {
		On   []string
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct{ Name, Uses, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(dir, "github-actions.yml"))), &github); err != nil {
		t.Fatal(err)
	}
	job := github.Jobs["gate"]
	runs := 0
	for _, s := range job.Steps {
		if (s.Run == "") == (s.Uses == "") {
			t.Errorf("a step runs something or uses something: %+v", s)
		}
		if s.Run == command {
			runs++
		}
	}
	if runs != 1 || job.RunsOn == "" || len(github.On) == 0 {
		t.Errorf("%+v", github)
	}

	var gitlab map[string]struct {
		Script    []string
		Artifacts struct {
			When    string
			Paths   []string
			Reports struct{ JUnit string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(dir, "gitlab-ci.yml"))), &gitlab); err != nil {
		t.Fatal(err)
	}
	if j := gitlab["precision"]; len(j.Script) != 1 || j.Script[0] != command || j.Artifacts.When != "always" || len(j.Artifacts.Paths) == 0 {
		t.Errorf("%+v", gitlab)
	}

	jenkins := read(t, filepath.Join(dir, "Jenkinsfile"))
	if !strings.Contains(jenkins, "sh '"+command+"'") || strings.Count(jenkins, "{") != strings.Count(jenkins, "}") {
		t.Error(jenkins)
	}
}
