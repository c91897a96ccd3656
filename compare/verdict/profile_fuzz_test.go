package verdict

import "testing"

// FuzzProfile: a text is a profile that can be used and read again from its source,
// or an error that tells the file.
func FuzzProfile(f *testing.F) {
	for _, name := range BuiltinNames() {
		p, err := Builtin(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(p.Source))
	}
	f.Add([]byte("name = \"x\"\n[[rule]]\ncause = \"cosine\"\nlimit = nan\nmatch = \"(\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParseProfile(text, "profile.toml")
		if err != nil {
			if len(err.Error()) < len("profile.toml") || err.Error()[:len("profile.toml")] != "profile.toml" {
				t.Fatalf("the error does not begin with the file: %v", err)
			}
			return
		}
		if _, err := ParseProfile([]byte(p.Source), "again.toml"); err != nil {
			t.Fatalf("the source of a profile is none: %v", err)
		}
	})
}
