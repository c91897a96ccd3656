// Package contrib tests the templates in contrib: that they are what the schedulers take, and that the commands in them
// give the files of one machine.
package contrib

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"precision/testdata/workshop/jobtest"
)

const contrib = "../../contrib"

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(dir))
	}
	os.Exit(code)
}

// program is the program, built once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "contrib")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "precision")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/precision")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return path, fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// made is a folder with a job, as the templates have it below /data, and the files of an unsharded run.
func made(t *testing.T) (data, precision string, want map[string]string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the templates are of Unix")
	}
	precision, err := program()
	if err != nil {
		t.Fatal(err)
	}
	data = t.TempDir()
	dir := filepath.Join(data, "job")
	broken := jobtest.Job{Ranks: 4, Steps: 2, Size: 64, All: true, Break: func(step, rank int, op string, out []float32) {
		if op == jobtest.Reduce && rank == 2 && step == 1 {
			out[3]++
		}
	}}
	if err := broken.Write(dir); err != nil {
		t.Fatal(err)
	}
	const graph = "ge_proto_00000001_graph_1_Build.txt"
	if err := os.Mkdir(filepath.Join(dir, "graphs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, graph), filepath.Join(dir, "graphs", graph)); err != nil {
		t.Fatal(err)
	}
	one := filepath.Join(t.TempDir(), "one")
	out, err := exec.Command(precision, "compare", "-lt", filepath.Join(dir, "npu"), "-rt", filepath.Join(dir, "golden"), "-g", filepath.Join(dir, "graphs"),
		"-all", "-out", one).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !bytes.Contains(out, []byte("rank 2")) {
		t.Fatalf("the fault of rank 2 was not found: %s", out)
	}
	return data, precision, files(t, one)
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		all[rel] = read(t, path)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

func same(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := files(t, dir)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs or is not there", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("a file %s too many", name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// object decodes a document of YAML, refusing fields that the type does not have.
func object[T any](t *testing.T, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return into
}

// pod checks what an API server would of a pod, and returns its container.
func pod(t *testing.T, p core.PodSpec) core.Container {
	t.Helper()
	if len(p.Containers) != 1 || len(p.Volumes) != 1 {
		t.Fatalf("%d containers, %d volumes", len(p.Containers), len(p.Volumes))
	}
	c := p.Containers[0]
	if c.Name == "" || c.Image == "" {
		t.Errorf("%+v", c)
	}
	restricted(t, p, c)
	// What is read is mounted read-only, what is written is not, and each path is mounted below its own folder.
	for _, name := range []string{"LEFT", "RIGHT", "GRAPHS", "OUT"} {
		path, mounted := variable(c, name), false
		for _, m := range c.VolumeMounts {
			if m.Name == p.Volumes[0].Name && strings.HasPrefix(path+"/", m.MountPath+"/") && m.MountPath == "/data/"+m.SubPath {
				mounted = m.ReadOnly == (name != "OUT")
			}
		}
		if path != "" && !mounted {
			t.Errorf("%s is %s, the mounts are %+v", name, path, c.VolumeMounts)
		}
	}
	if v := p.Volumes[0].PersistentVolumeClaim; v == nil || v.ClaimName != claim(t).Name {
		t.Errorf("the volume is %+v", p.Volumes[0])
	}
	for name, least := range c.Resources.Requests {
		if most, ok := c.Resources.Limits[name]; ok && most.Cmp(least) < 0 {
			t.Errorf("%s: the limit is below the request", name)
		}
	}
	return c
}

// restricted checks the level "restricted" of the Pod Security Standards, a root file system that is read-only, and that the pod has no
// token for the API server.
func restricted(t *testing.T, p core.PodSpec, c core.Container) {
	t.Helper()
	is := func(b *bool, want bool) bool { return b != nil && *b == want }
	s, own := p.SecurityContext, c.SecurityContext
	switch {
	case s == nil || own == nil:
		t.Error("no security context")
	case !is(s.RunAsNonRoot, true) || s.RunAsUser == nil || *s.RunAsUser == 0 || s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault:
		t.Errorf("the pod's security context is %+v", s)
	case !is(own.AllowPrivilegeEscalation, false) || !is(own.Privileged, false) || !is(own.ReadOnlyRootFilesystem, true) || own.Capabilities == nil ||
		len(own.Capabilities.Drop) != 1 || own.Capabilities.Drop[0] != "ALL" || len(own.Capabilities.Add) > 0 || own.RunAsUser != nil || own.RunAsNonRoot != nil || own.SeccompProfile != nil:
		t.Errorf("the container's security context is %+v", own)
	}
	if !is(p.AutomountServiceAccountToken, false) || p.HostNetwork || p.HostPID || p.HostIPC || len(p.InitContainers)+len(p.EphemeralContainers) > 0 {
		t.Errorf("%+v", p)
	}
	for _, port := range c.Ports {
		if port.HostPort != 0 {
			t.Errorf("%+v", port)
		}
	}
}

func claim(t *testing.T) *core.PersistentVolumeClaim {
	return object[core.PersistentVolumeClaim](t, read(t, filepath.Join(contrib, "kubernetes", "volume.yaml")))
}

// start runs what a container would, with the folder data for /data.
func start(t *testing.T, c core.Container, data, precision string, env ...string) {
	t.Helper()
	words := append(append([]string(nil), c.Command...), c.Args...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(env, "PATH="+filepath.Dir(precision)+":/usr/bin:/bin")
	for _, e := range c.Env {
		value := e.Value
		if rest, ok := strings.CutPrefix(value, "/data"); ok {
			value = data + rest
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", env, err, out)
	}
}

func variable(c core.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// The Indexed Job and the merge are objects of Kubernetes, fit together, and give the files of one machine.
func TestKubernetes(t *testing.T) {
	v := claim(t)
	if v.Kind != "PersistentVolumeClaim" || v.APIVersion != "v1" || len(v.Spec.AccessModes) != 1 || v.Spec.AccessModes[0] != core.ReadWriteMany || v.Spec.Resources.Requests.Storage().IsZero() {
		t.Errorf("%+v", v)
	}
	load := func(name string) (*batch.Job, core.Container) {
		j := object[batch.Job](t, read(t, filepath.Join(contrib, "kubernetes", name)))
		if j.Kind != "Job" || j.APIVersion != "batch/v1" || j.Name == "" || j.Spec.Completions == nil || j.Spec.Parallelism == nil || j.Spec.Template.Spec.RestartPolicy != core.RestartPolicyNever {
			t.Errorf("%s: %+v", name, j)
		}
		return j, pod(t, j.Spec.Template.Spec)
	}
	shards, c := load("shards.yaml")
	s := shards.Spec
	if s.CompletionMode == nil || *s.CompletionMode != batch.IndexedCompletion || s.BackoffLimitPerIndex == nil || s.MaxFailedIndexes == nil || *s.Parallelism > *s.Completions {
		t.Errorf("%+v", s)
	}
	for _, r := range s.PodFailurePolicy.Rules {
		if (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0) || r.OnExitCodes != nil && *r.OnExitCodes.ContainerName != c.Name {
			t.Errorf("%+v", r)
		}
	}
	merge, m := load("merge.yaml")
	if *merge.Spec.Completions != 1 || m.Image != c.Image || variable(m, "OUT") != variable(c, "OUT") {
		t.Error("the merge does not go with the shards")
	}
	n := int(*s.Completions)
	if want := strconv.Itoa(n); variable(c, "SHARDS") != want || variable(m, "SHARDS") != want {
		t.Errorf("%d completions, SHARDS are %s and %s", n, variable(c, "SHARDS"), variable(m, "SHARDS"))
	}
	data, precision, want := made(t)
	for i := range n {
		start(t, c, data, precision, "JOB_COMPLETION_INDEX="+strconv.Itoa(i))
	}
	start(t, m, data, precision)
	same(t, filepath.Join(data, "result", "whole"), want)
}

// What Volcano has beside the types of Kubernetes. Its module is not to be had everywhere; these are the fields that its
// definitions of JobTemplate and JobFlow list, of which the template may use no others.
type jobTemplate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		SchedulerName     string              `json:"schedulerName"`
		MinAvailable      int                 `json:"minAvailable"`
		Queue             string              `json:"queue"`
		MaxRetry          int                 `json:"maxRetry"`
		Plugins           map[string][]string `json:"plugins"`
		Policies          []policy            `json:"policies"`
		PriorityClassName string              `json:"priorityClassName"`
		Tasks             []struct {
			Name     string               `json:"name"`
			Replicas int                  `json:"replicas"`
			Policies []policy             `json:"policies"`
			Template core.PodTemplateSpec `json:"template"`
		} `json:"tasks"`
	} `json:"spec"`
}

type policy struct {
	Event  string `json:"event"`
	Action string `json:"action"`
}

type jobFlow struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		JobRetainPolicy string `json:"jobRetainPolicy"`
		Flows           []struct {
			Name      string `json:"name"`
			DependsOn struct {
				Targets []string `json:"targets"`
			} `json:"dependsOn"`
		} `json:"flows"`
	} `json:"spec"`
}

// The same for Volcano.
func TestVolcano(t *testing.T) {
	documents := strings.Split(read(t, filepath.Join(contrib, "volcano", "jobflow.yaml")), "\n---\n")
	if len(documents) != 3 {
		t.Fatalf("%d documents", len(documents))
	}
	load := func(text string) (*jobTemplate, core.Container) {
		j := object[jobTemplate](t, text)
		if j.Kind != "JobTemplate" || j.APIVersion != "flow.volcano.sh/v1alpha1" || j.Name == "" || j.Spec.SchedulerName != "volcano" || len(j.Spec.Tasks) != 1 || j.Spec.MinAvailable != 1 {
			t.Fatalf("%+v", j)
		}
		task := j.Spec.Tasks[0].Template.Spec
		if task.RestartPolicy != core.RestartPolicyOnFailure {
			t.Errorf("%+v", task)
		}
		return j, pod(t, task)
	}
	shards, c := load(documents[0])
	merge, m := load(documents[1])
	flow := object[jobFlow](t, documents[2])
	f := flow.Spec.Flows
	if flow.Kind != "JobFlow" || flow.APIVersion != "flow.volcano.sh/v1alpha1" || flow.Spec.JobRetainPolicy != "retain" || len(f) != 2 ||
		f[0].Name != shards.Name || f[1].Name != merge.Name || len(f[0].DependsOn.Targets) != 0 || len(f[1].DependsOn.Targets) != 1 || f[1].DependsOn.Targets[0] != shards.Name {
		t.Errorf("%+v", flow)
	}
	if _, ok := shards.Spec.Plugins["env"]; !ok {
		t.Error("without the plugin env a pod does not know its index")
	}
	n := shards.Spec.Tasks[0].Replicas
	if want := strconv.Itoa(n); variable(c, "SHARDS") != want || variable(m, "SHARDS") != want || merge.Spec.Tasks[0].Replicas != 1 || c.Image != m.Image || variable(c, "OUT") != variable(m, "OUT") {
		t.Errorf("%d replicas, SHARDS are %s and %s", n, variable(c, "SHARDS"), variable(m, "SHARDS"))
	}
	data, precision, want := made(t)
	for i := range n {
		start(t, c, data, precision, "VC_TASK_INDEX="+strconv.Itoa(i))
	}
	start(t, m, data, precision)
	same(t, filepath.Join(data, "result", "whole"), want)
}

// sbatch stands for that of Slurm: it runs a copy of the script at once, each task of an array by itself, and a job that depends on
// another only if no task of that failed. It refuses options that it does not know.
const sbatch = `#!/usr/bin/env bash
set -euo pipefail
array= after= log=/dev/null
while [[ $1 == -* ]]; do
  case $1 in
    --array=1-*) array=${1#*-*-*-} ;;
    --dependency=afterok:*) after=${1#*:} ;;
    --output=*) log=${1#*=} ;;
    --parsable|--kill-on-invalid-dep=yes|--partition=cpu) ;;
    *) echo "sbatch: unknown option $1" >&2; exit 1 ;;
  esac
  shift
done
id=$(($(cat "$STATE/id") + 1))
echo "$id" >"$STATE/id"
cp "$1" "$STATE/spooled"
shift
if [ -n "$array" ]; then
  for ((i = 1; i <= array; i++)); do
    SLURM_ARRAY_JOB_ID=$id SLURM_ARRAY_TASK_ID=$i SLURM_CPUS_PER_TASK=2 bash "$STATE/spooled" "$@" >>"${log//%a/$i}" 2>&1 || touch "$STATE/failed.$id"
  done
elif [ -z "$after" ] || [ ! -e "$STATE/failed.$after" ]; then
  bash "$STATE/spooled" "$@" >>"$log" 2>&1
fi
echo "$id;cluster"
`

// failing runs the program, but for shard 2, which fails as long as a file is there.
const failing = `#!/bin/sh
case "$*" in *"-shard 2/"*) [ ! -e "$STATE/down" ] || exit 1 ;; esac
exec "$REAL" "$@"
`

// The scripts of Slurm give the files of one machine; if a task fails there is no merge, and the same line goes on.
func TestSlurm(t *testing.T) {
	data, precision, want := made(t)
	bin, state := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(bin, "sbatch"): sbatch, filepath.Join(bin, "failing"): failing,
		filepath.Join(state, "id"): "100", filepath.Join(state, "down"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	submit, err := filepath.Abs(filepath.Join(contrib, "slurm", "submit.sh"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(words ...string) ([]byte, error) {
		cmd := exec.Command(submit, words...)
		cmd.Dir = data
		cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "STATE=" + state, "REAL=" + precision, "PRECISION=" + filepath.Join(bin, "failing"), "SBATCH_OPTIONS=--partition=cpu"}
		return cmd.CombinedOutput()
	}
	line := []string{"3", "result", "-lt", filepath.Join(data, "job", "npu"), "-rt", filepath.Join(data, "job", "golden"), "-g", filepath.Join(data, "job", "graphs")}
	if out, err := run(line...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := filepath.Join(data, "result", "whole")
	if _, err := os.Stat(whole); err == nil {
		t.Error("merged, though a shard failed")
	}
	if err := os.Remove(filepath.Join(state, "down")); err != nil {
		t.Fatal(err)
	}
	out, err := run(line...)
	if err != nil || !bytes.Contains(out, []byte("shards: job 103; merge: job 104")) {
		t.Fatalf("%v: %s", err, out)
	}
	if log := read(t, filepath.Join(data, "result", "shards", "1.log")); !strings.Contains(log, "resuming an earlier run") {
		t.Errorf("shard 1 began anew: %s", log)
	}
	same(t, whole, want)
	for _, bad := range [][]string{nil, {"0", "result", "-lt", "a", "-rt", "b"}, {"x", "result", "-lt", "a", "-rt", "b"}} {
		if _, err := run(bad...); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// The scripts, and those in the YAML files, are scripts.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(contrib, "slurm", "*.s*"))
	if err != nil || len(scripts) != 3 {
		t.Fatalf("found %q, %v", scripts, err)
	}
	for _, tool := range [][]string{{"bash", "-n"}, {"shellcheck"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			t.Logf("no %s", tool[0])
			continue
		}
		for _, script := range scripts {
			if out, err := exec.Command(tool[0], append(tool[1:], script)...).CombinedOutput(); err != nil {
				t.Errorf("%s %s: %v: %s", tool[0], script, err, out)
			}
		}
	}
}
