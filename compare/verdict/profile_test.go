package verdict

import (
	"strings"
	"testing"
)

func TestBuiltinProfiles(t *testing.T) {
	for _, name := range BuiltinNames() {
		p, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name {
			t.Errorf("profile %s calls itself %s", name, p.Name)
		}
		if p.Date == "" || p.Standard == "" {
			t.Errorf("%s: no date or no standard", name)
		}
	}
}

func TestBadProfiles(t *testing.T) {
	for text, want := range map[string]string{
		"date = 2026-01-01":                                                         `p.toml:1: a profile without a name`,
		"name = \"x\"\nlimits = 3":                                                  `p.toml:2: unknown key "limits"`,
		"name = \"x\"\n[[rule]]\ncause = \"cosin\"\nlimit = 1":                      `p.toml:2: there is no cause "cosin"`,
		"name = \"x\"\n\n[[rule]]\ncause = \"cosine\"\nlimit = nan":                 `p.toml:3: the limit of cosine is NaN, expected -1 to 1`,
		"name = \"x\"\n[[rule]]\ncause = \"distance\"\nlimit = -1":                  `p.toml:2: the limit of distance is -1`,
		"name = \"x\"\n[[rule]]\ncause = \"distance\"":                              `p.toml:2: a rule without a limit`,
		"name = \"x\"\n[[rule]]\ncause = \"distance\"\nlimit = \"none\"":            `p.toml:2: the limit is "none"`,
		"name = \"x\"\n[[rule]]\ncause = \"cosine\"\nlimit = 1\nrole = \"outputs\"": `p.toml:2: the role is "outputs"`,
		"name = \"x\"\n[[rule]]\ncause = \"cosine\"\nlimit = 1\ndtype = \"fp16\"":   `p.toml:2: there is no dtype "fp16"`,
		"name = \"x\"\n[[rule]]\ncause = \"cosine\"\nlimit = 1\nrtol = 1.0":         `p.toml:2: atol and rtol belong to`,
		"name = \"x\"\n[[rule]]\ncause = \"tolerance\"\nlimit = 0.1":                `p.toml:2: the tolerance is atol 0 and rtol 0`,
		"name = \"x\"\n[[waiver]]\ntensor = \"a\"":                                  `p.toml:2: a waiver without a reason`,
		"name = \"x\"\n[[waiver]]\ntensor=\"a\"\nreason=\" \"":                      `p.toml:2: a waiver without a reason`,
		"name = \"x\"\n[[waiver]]\ntensor=\"*:output:*\"\nreason=\"b\"":             `p.toml:2: a waiver of every tensor, "*:output:*"`,
		"name = \"x\"\n[[waiver]]\ntensor=\"a\"\nreason=\"b\"\nexpires=\"soon\"":    `p.toml:2: expires: found soon`,
		"name = ": `p.toml:1: `,
		"name = \"x\"\n[[rule]]\ncause = 3\nlimit=0": `p.toml:3: `,
	} {
		_, err := ParseProfile([]byte(text), "p.toml")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s…", text, err, want)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*/attention/*", "bert/layer_0/attention/self/query", true},
		{"conv1", "conv1", true},
		{"conv?", "conv12", false},
		{"*[0]*", "a[0]b", true},
		{"*", "a/b", true},
		{`a\b*`, `a\bc`, true},
	} {
		if got := Glob(c.pattern, c.name); got != c.want {
			t.Errorf("Glob(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
