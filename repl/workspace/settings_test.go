package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestToml(t *testing.T) {
	values, err := parseToml("# settings\n cos_sim = 0.9 # low\nlang=\"zh\"\n[cp]\nrows = 1_000\nlist = [\"a -> b\", 'c']\non = true\n")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"cos_sim": 0.9, "lang": "zh", "cp.rows": 1000.0, "cp.on": true} {
		if got := values[key].value; got != want {
			t.Errorf("%s = %v, want %v", key, got, want)
		}
	}
	if got, _ := values["cp.list"].value.([]string); !slices.Equal(got, []string{"a -> b", "c"}) {
		t.Errorf("list = %q", got)
	}
	values, err = parseToml("a = [ # some\r\n  \"x]\", # ] not yet\n\n  'y',\n] # end\nb = []\nc = 1")
	if got, _ := values["a"].value.([]string); err != nil || !slices.Equal(got, []string{"x]", "y"}) || values["c"].line != 7 {
		t.Errorf("a list of several lines: %v, %v", values, err)
	}
	for _, bad := range []string{"x = [\n'a'\ny = 1\n", "x = ['a' 'b']", "x = [,]", "x", "x =", "x = \"a", "x = [1]", "x = [\"a\"", "[t", "x = 1 2", "x = 1\nx = 2", "x = yes", "\xff = 1"} {
		if _, err := parseToml(bad); err == nil {
			t.Errorf("%q gives no error", bad)
		}
	}
}

func FuzzToml(f *testing.F) {
	f.Add("a = [\"x\", 'y'] # c\n[t]\nb = 1.5\n")
	f.Fuzz(func(t *testing.T, text string) { parseToml(text) })
}

func TestSettingsOrder(t *testing.T) {
	dir := t.TempDir()
	user, data := filepath.Join(dir, "user.toml"), filepath.Join(dir, "data.toml")
	os.WriteFile(user, []byte("limit = 7\ncos_sim = 0.5\ncasts = [\"DT_FLOAT -> DT_INT32\"]\n"), 0o600)
	os.WriteFile(data, []byte("limit = 9\nnetwork = \"train\"\nno_such = 1\natol = -1\n"), 0o600)
	s := Defaults()
	if w, err := s.Load(user); err != nil || len(w) > 0 {
		t.Fatal(w, err)
	}
	w, err := s.Load(data)
	if err != nil || len(w) != 2 || !strings.Contains(w[0].Error(), "data.toml:3: no_such") {
		t.Errorf("warnings %v, error %v; want two, with file and line", w, err)
	}
	os.WriteFile(data, []byte("step = 1.5\ndump_step = -1\nstep2 = 1\n"), 0o600)
	if w, _ := (&s).Load(data); len(w) != 3 || s.Step != "" {
		t.Errorf("half an iteration: warnings %v, step %q", w, s.Step)
	}
	if s.Limit != 9 || s.CosSim != 0.5 || !s.Train || s.Atol != 0.001 || len(s.Casts) != 1 || s.Rows != 20 {
		t.Errorf("settings %+v", s)
	}
	if w, err := s.Load(filepath.Join(dir, "none.toml")); w != nil || err != nil {
		t.Error("a missing file is an error")
	}
}
