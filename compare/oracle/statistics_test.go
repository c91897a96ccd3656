package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// TestStatisticsOfCases: of every recorded call, of which numpy and PyTorch computed the elements, the statistics alone accuse
// no one, but for NaN and infinities that came out where none went in; each output says more than that there is nothing but
// statistics. And with a statistic of what is claimed changed, most are wrong.
func TestStatisticsOfCases(t *testing.T) {
	r := newRecorder(t)
	r.task, r.statistics = "statistics", true
	list := callCases(t)
	for i := range list {
		r.add(&list[i])
	}
	named, claimed := map[result.Kind]int{}, 0
	for _, f := range r.check() {
		kinds := map[result.Kind]bool{}
		for _, why := range f.Reasons {
			kinds[why.Kind] = true
			named[why.Kind]++
		}
		made := kinds[MadeHere] || kinds[HeldBefore] || kinds[GivenAs]
		switch {
		case f.Verdict == Wrong, f.Verdict == Suspect && !made, f.Verdict == OK:
			t.Errorf("%s:%d: %s: %v", f.Op, f.Index, f.Verdict, f.Reasons)
		case kinds[NoElements] && len(f.Reasons) == 1:
			t.Errorf("%s:%d: nothing is said but %v", f.Op, f.Index, f.Reasons)
		}
		if kinds[InRange] {
			claimed++
		}
	}
	if claimed < 250 {
		t.Errorf("of %d outputs a range is known", claimed)
	}
	t.Log(claimed, named)
}

// stat is the entry of a tensor of which statistics were recorded.
func stat(shape string, max, min, mean, norm any) string {
	return fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.float32","shape":%s,"Max":%v,"Min":%v,"Mean":%v,"Norm":%v}`, shape, max, min, mean, norm)
}

func call(name, in, out string) string {
	return fmt.Sprintf(`%q:{"input_args":[%s],"input_kwargs":{},"output":[%s]}`, name, in, out)
}

// TestSources: where NaN and Inf come from, over calls, ranks and steps.
func TestSources(t *testing.T) {
	fine, nan := stat("[4,6]", 2, -1, 0.1, 3.5), stat("[4,6]", "NaN", "NaN", "NaN", "NaN")
	inf, mask := stat("[4,6]", "Infinity", -1, "Infinity", "Infinity"), stat("[4,6]", 0, "-Infinity", "-Infinity", "Infinity")
	small := stat("[6]", 2, -1, 0.1, 1.5)
	for name, c := range map[string]struct {
		calls []string // of the ranks of a step
		want  []string // verdicts but unknown, with the kinds of their reasons
	}{
		"a call makes it, others take it": {[]string{call("Torch.custom.0.forward", fine, nan) + "," + call("Functional.gelu.0.forward", nan, nan)},
			[]string{"Torch.custom.0.forward suspect check-made NaN", "Functional.gelu.0.forward unknown check-came NaN input.0 Torch.custom.0.forward"}},
		"where the range is known it is wrong": {[]string{call("Functional.gelu.0.forward", fine, nan)},
			[]string{"Functional.gelu.0.forward wrong check-made NaN"}},
		"Inf of a product": {[]string{call("Torch.matmul.0.forward", fine+","+fine, inf)}, []string{"Torch.matmul.0.forward wrong check-made Inf"}},
		"it was there": {[]string{call("Torch.custom.0.forward", nan, nan) + "," + call("Torch.custom.1.forward", nan, fine)},
			[]string{"Torch.custom.0.forward suspect check-held NaN input.0"}},
		"it is given": {[]string{call("Tensor.__setitem__.0.forward", fine+`,{"type":"float","value":NaN}`, "null") + "," + call("Torch.custom.0.forward", nan, nan)},
			[]string{"Tensor.__setitem__.0.forward suspect check-given NaN input.1", "Torch.custom.0.forward unknown check-came NaN input.0 Tensor.__setitem__.0.forward"}},
		"an argument that is not taken":        {[]string{call("Torch.custom.0.forward", fine+`,{"type":"float","value":NaN}`, fine)}, nil},
		"masks are none":                       {[]string{call("Torch.custom.0.forward", fine, mask) + "," + call("Torch.add.0.forward", fine+","+mask, mask) + "," + call("Functional.softmax.0.forward", mask, stat("[4,6]", 1, 0, 0.2, 1))}, nil},
		"a product that gives -Inf overflowed": {[]string{call("Torch.matmul.0.forward", fine+","+fine, mask)}, []string{"Torch.matmul.0.forward wrong check-made -Inf"}},
		"rows of a mask alone":                 {[]string{call("Functional.softmax.0.forward", mask, nan)}, []string{"Functional.softmax.0.forward suspect check-made NaN"}},
		"an infinity on purpose":               {[]string{call("Torch.custom.0.forward", fine+`,{"type":"float","value":Infinity}`, inf) + "," + call("Torch.minimum.0.forward", inf+","+fine, fine)}, nil},
		"memory nobody wrote":                  {[]string{call("Torch.empty_like.0.forward", fine, nan) + "," + call("Tensor.copy_.0.forward", nan+","+fine, fine)}, nil},
		"another shape of it":                  {[]string{call("Torch.custom.0.forward", fine, nan) + "," + call("Torch.custom.1.forward", stat("[6]", "NaN", "NaN", "NaN", "NaN"), small)}, []string{"Torch.custom.0.forward suspect check-made NaN"}},
		"a collective spreads it": {[]string{call("Distributed.all_reduce.0.forward", fine, nan), call("Torch.custom.0.forward", fine, nan) + "," + call("Distributed.all_reduce.0.forward", nan, nan)},
			[]string{"rank0/Distributed.all_reduce.0.forward unknown check-came-rank NaN 1 rank1/Distributed.all_reduce.0.forward", "rank1/Torch.custom.0.forward suspect check-made NaN",
				"rank1/Distributed.all_reduce.0.forward unknown check-came NaN input.0 rank1/Torch.custom.0.forward"}},
		"a collective makes it": {[]string{call("Distributed.all_reduce.0.forward", fine, nan), call("Distributed.all_reduce.0.forward", fine, nan)},
			[]string{"rank0/Distributed.all_reduce.0.forward suspect check-made NaN", "rank1/Distributed.all_reduce.0.forward suspect check-made NaN"}},
		"the recorder found it": {[]string{`"Torch.custom.0.forward":{"is_nan":false},"Torch.custom.1.forward":{"is_nan":true},"Torch.custom.2.forward":{"is_nan":true}`},
			[]string{"Torch.custom.1.forward suspect check-found"}},
		"all of it zero":       {[]string{call("Torch.matmul.0.forward", fine+","+fine, stat("[4,4]", 0, 0, 0, 0))}, []string{"Torch.matmul.0.forward suspect check-all-zero"}},
		"zeros of zeros":       {[]string{call("Torch.matmul.0.forward", fine+","+stat("[6,4]", 0, 0, 0, 0), stat("[4,4]", 0, 0, 0, 0))}, nil},
		"moved and changed":    {[]string{call("Torch.reshape.0.forward", fine, stat("[24]", 2, -1, 0.1, 3.6))}, []string{"Torch.reshape.0.forward wrong check-not-kept Norm 3.5 3.6"}},
		"moved":                {[]string{call("Torch.reshape.0.forward", fine, stat("[24]", 2, -1, 0.1, 3.5))}, nil},
		"beyond its arguments": {[]string{call("Torch.cat.0.forward", "["+fine+","+small+"]", stat("[3,10]", 2.5, -1, 0.1, 4))}, []string{"Torch.cat.0.forward wrong check-range Max 2.5 -1 2"}},
		"a norm of a product":  {[]string{call("Torch.matmul.0.forward", fine+","+fine, stat("[4,4]", 4, -4, 0, 15))}, []string{"Torch.matmul.0.forward wrong check-range Norm 15 0 12.8625"}},
		"a sum":                {[]string{call("Torch.sum.0.forward", fine, stat("[]", 49, 49, 49, 49))}, []string{"Torch.sum.0.forward wrong check-range Max 49 -24.0001 48.0001"}},
	} {
		dir := t.TempDir()
		var list []msprobe.Recording
		for rank, calls := range c.calls {
			r := &recorder{t: t, dir: fmt.Sprintf("%s/step0/rank%d", dir, rank), task: "statistics", entries: []string{calls}}
			list = append(list, r.writeAt()...)
		}
		findings, bad, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
		if err != nil || len(bad) > 0 {
			t.Fatal(name, err, bad)
		}
		var got []string
		for _, f := range findings {
			if last := f.Reasons[len(f.Reasons)-1]; f.Verdict != Unknown || last.Kind == CameFrom || last.Kind == CameRank {
				got = append(got, strings.ReplaceAll(strings.Join(append([]string{f.Op, f.Verdict.String(), string(last.Kind)}, last.Args...), " "), "step0/", ""))
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, expected %q", name, got, c.want)
		}
	}
}
