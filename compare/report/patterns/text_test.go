package patterns

import (
	"testing"

	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

func TestSaved(t *testing.T) {
	for evidence, want := range map[string]string{`{"factor":0.5}`: "factor 0.5", "": "factor 0", "{": "", "[]": ""} {
		if got := Saved(msg.English, "scale", evidence); got != want {
			t.Errorf("%q: %q, expected %q", evidence, got, want)
		}
	}
	if got := Kind(msg.Chinese, "no such kind"); got != "no such kind" {
		t.Error(got)
	}
}
