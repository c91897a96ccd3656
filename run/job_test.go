package run

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"precision/compare/job"
	"precision/testdata/workshop/jobtest"
)

// A worker that is handed a plan has the parts of the one who made it, and not those of other options.
func TestTakeOver(t *testing.T) {
	dir := t.TempDir()
	if err := (jobtest.Job{Ranks: 2, Steps: 1, Size: 8}).Write(dir); err != nil {
		t.Fatal(err)
	}
	asked := func(ranks string) *Job {
		return &Job{Request: job.Request{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Version: "1"}, Ranks: ranks}
	}
	made := asked("")
	plan, err := made.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := plan.HandOver(&b); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	worker := asked("")
	other, err := worker.TakeOver(b.Bytes(), day)
	if err != nil || len(other.Parts) != 2 || len(plan.Parts) != 2 || other.Parts[1].Name != plan.Parts[1].Name || !worker.Day.Equal(day) {
		t.Errorf("%+v, %v, expected the parts of %+v on %s", other, err, plan.Parts, day)
	}
	if _, err := asked("1").TakeOver(b.Bytes(), day); err == nil {
		t.Error("a plan of all ranks was taken for one of rank 1")
	}
	if _, err := asked("x-").TakeOver(b.Bytes(), day); err == nil {
		t.Error("ranks that are no numbers were taken")
	}
}
