package fusion

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"precision/graph"
	"precision/testdata/workshop/graphtest"
)

func TestFusionResult(t *testing.T) {
	body := `"graph_fusion": {"Z": {"effect_times": "2", "match_times": "3"}, "A": {"match_times": "1", "effect_times": "0", "new": [1]}},
		"ub_fusion": {"U": {"effect_times": 1, "match_times": "1", "repository_hit_times": "4"}}`
	passes := "[{Z 3 2} {A 1 0}] [{U 1 1}]"
	for name, c := range map[string]struct{ text, want string }{
		"sequence":  {`{"graphId": "0_1", ` + body + "}\n{\"graphId\": 2}", "0_1 " + passes + "\n2 [] []\n"},
		"array":     {`[{` + body + `, "session_and_graph_id": "0_11"}, {"session_and_graph_id": "0_12"}]`, "0_11 " + passes + "\n0_12 [] []\n"},
		"keyed":     {`{"session_and_graph_id_0_1": {` + body + `}, "session_and_graph_id_0_2": {}}`, "0_1 " + passes + "\n0_2 [] []\n"},
		"plain":     {`{` + body + `}`, " " + passes + "\n"},
		"separated": {`{"graphId": "1"}, {"graphId": "2"}`, "1 [] []\n2 [] []\n"},
	} {
		stats, err := ReadResult(strings.NewReader(c.text), name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range stats {
			fmt.Fprintln(&b, s.GraphID, s.Graph, s.UB)
		}
		if b.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, b.String(), c.want)
		}
	}
	for text, want := range map[string]string{
		"":                      "f:1: file is empty",
		"5":                     "f:1: statistics of a graph is a number",
		`{"graph_fusion": 5}`:   "f:1: passes is a number",
		"{\"graph_fusion\":\n{": "f:2: file ends inside",
		`{"graph_fusion": {"A": {"match_times": "many"}}}`: `count "many" is not a number`,
	} {
		_, err := ReadResult(strings.NewReader(text), "f")
		var e *graph.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestFusionResultReal(t *testing.T) {
	stats, err := OpenResult(graphtest.Real(t, "json/fusion_result.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(stats); got != "[{0_11 [{ConstToAttrGatherV2Fusion 1 0} {RefreshInt64ToInt32FusionPass 1 1}] []}]" {
		t.Error(got)
	}
}

func FuzzFusionResult(f *testing.F) {
	f.Add([]byte(`{"session_and_graph_id_0_1": {"graph_fusion": {"A": {"match_times": "1"}}}}{"graphId": 5}`))
	f.Add([]byte(`[{"ub_fusion": {}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ReadResult(bytes.NewReader(data), "fuzz")
	})
}
