package report

import (
	"os"
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/internal/msg"
)

// TestDocs: the manual shows what the program says, names every cause and every
// member of the file, and its profile can be read.
func TestDocs(t *testing.T) {
	golden, err := os.ReadFile("testdata/bad.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		lang msg.Lang
	}{{"../../docs/verdict.md", msg.English}, {"../../docs/zh/verdict.md", msg.Chinese}} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		doc := string(text)
		_, profile, _ := strings.Cut(doc, "```toml\n")
		profile, _, _ = strings.Cut(profile, "```")
		if p, err := verdict.ParseProfile([]byte(profile), c.file); err != nil || len(p.Rules) != 1 || len(p.Waivers) != 1 {
			t.Errorf("the profile of the manual: %v", err)
		}
		var names []string
		for _, k := range verdict.Kinds() {
			names = append(names, string(k))
		}
		// The members of the file but those of "table", which are the program's own.
		names = append(names, "schema", "profile", "left", "right", "graph", "pairing", "coverage", "verdict", "counts", "roots", "operators", "table",
			"warnings", "expired_waivers", "bits", "baseline", "checked", "op", "type", "index", "output", "framework_ops", "causes", "certainty", "region",
			"inherited", "reaches", "state", "from", "outputs", "inputs", "metrics", "reasons", "row", "kind", "value", "limit", "count", "first", "waived")
		for _, name := range names {
			if !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("%s does not name %s", c.file, name)
			}
		}
		_, said, _ := strings.Cut(string(golden), "-- text "+c.lang.String()+" --\n")
		said, _, _ = strings.Cut(said, "-- ")
		said = strings.NewReplacer("![", "", "]", "").Replace(said)
		for line := range strings.Lines(said) {
			line = strings.TrimSpace(line)
			if strings.Contains(line, "sha256") || strings.Contains(line, "哈希") || strings.HasPrefix(line, "Gate") || strings.HasPrefix(line, "门禁") {
				continue // of the test's own profile, or of a gate
			}
			if !strings.Contains(doc, line) {
				t.Errorf("%s does not show the line %s", c.file, line)
			}
		}
	}
}
