package result

import "testing"

func TestPlaced(t *testing.T) {
	for name, want := range map[string]string{
		"step0/rank1/Functional.linear.0.forward": "step0/rank1/", "rank12/Torch.add.0.forward": "rank12/", "graph/step3/proc/x": "graph/step3/proc/",
		"Functional.linear.0.forward": "", "graph/conv1/Conv2D": "", "proc/x": "", "stepwise/x": "", "step/x": "", "step1": "", "": "",
	} {
		if place, rest := Placed(name); place != want || place+rest != name {
			t.Errorf("%q: %q and %q, expected %q", name, place, rest, want)
		}
	}
}
