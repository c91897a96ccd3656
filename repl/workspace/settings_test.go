package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParseSettings: every key of a file has its value and its line.
func TestParseSettings(t *testing.T) {
	list, err := parseSettings([]byte("\ufeff# settings\ncos_sim = 0.9 # low\nlang = \"zh\"\nrows = 1_000\ncasts = [ # some\n  \"a -> b\",\n  'c',\n]\nstep = 3\n[cp]\nrows = 1\nall = true\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []setting{{"cos_sim", 0.9, 2}, {"lang", "zh", 3}, {"rows", int64(1000), 4}, {"casts", nil, 5}, {"step", int64(3), 9}, {"cp", nil, 10}}
	for i := range list {
		if want[i].value == nil {
			list[i].value = nil
		}
	}
	if !slices.Equal(list, want) {
		t.Errorf("got %v, want %v", list, want)
	}
	for text, want := range map[string]string{
		"x = [\n'a'\ny = 1\n": "3:", "x = ['a' 'b']": "1:", "x = [,]": "1:", "a = 1\nx": "2:", "x =": "1:", "x = \"a": "1:",
		"\n[t": "2:", "x = 1 2": "1:", "x = 1\n\nx = 2": "3:", "x = yes": "1:", "\xff = 1": "1:",
	} {
		if _, err := parseSettings([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: the error is %v, want one in line %s", text, err, want)
		}
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("a = [\"x\", 'y'] # c\n[t]\nb = 1.5\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseSettings([]byte(text))
		for _, v := range list {
			if lines := strings.Count(text, "\n") + 1; err != nil || v.line < 1 || v.line > lines {
				t.Errorf("%s in line %d of %d, %v", v.key, v.line, lines, err)
			}
		}
	})
}

// TestNotPlain: what is no plain file is not read, as it may have no end.
func TestNotPlain(t *testing.T) {
	s := Defaults()
	if _, err := s.Load(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "is a directory, expected settings in TOML") {
		t.Errorf("a folder: %v", err)
	}
}

// TestForeignSettings: a file that came with data names neither programs nor folders.
func TestForeignSettings(t *testing.T) {
	dir := t.TempDir()
	file, user := filepath.Join(dir, SettingsFile), filepath.Join(t.TempDir(), SettingsFile)
	os.WriteFile(file, []byte("limit = 8\npython = \"/tmp/evil\"\ndata = \"/elsewhere\"\n"), 0o600)
	s := Defaults()
	w, err := s.Load(file, user)
	if err != nil || len(w) != 2 || s.Python != "" || s.Data != defaultData || s.Limit != 8 {
		t.Errorf("settings %+v, warnings %v, %v", s, w, err)
	}
	for i, want := range []string{file + ":2: python: has no effect", file + ":3: data: has no effect"} {
		if i < len(w) && (!strings.HasPrefix(w[i].Error(), want) || !strings.HasSuffix(w[i].Error(), "belongs in "+user)) {
			t.Errorf("warning %q, want %q", w[i], want)
		}
	}
	if w, err := s.Load(file, file); err != nil || len(w) != 0 || s.Python != "/tmp/evil" {
		t.Errorf("of the user's own file: %q, %v, %v", s.Python, w, err)
	}
}

func TestSettingsOrder(t *testing.T) {
	dir := t.TempDir()
	user, data := filepath.Join(dir, "user.toml"), filepath.Join(dir, "data.toml")
	os.WriteFile(user, []byte("limit = 7\ncos_sim = 0.5\ncasts = [\"DT_FLOAT -> DT_INT32\"]\n"), 0o600)
	os.WriteFile(data, []byte("limit = 9\nnetwork = \"train\"\nno_such = 1\natol = -1\n"), 0o600)
	s := Defaults()
	if w, err := s.Load(user, user); err != nil || len(w) > 0 {
		t.Fatal(w, err)
	}
	w, err := s.Load(data, user)
	if err != nil || len(w) != 2 || !strings.Contains(w[0].Error(), "data.toml:3: no_such") {
		t.Errorf("warnings %v, error %v; want two, with file and line", w, err)
	}
	os.WriteFile(data, []byte("step = 1.5\ndump_step = -1\nstep2 = 1\n"), 0o600)
	if w, _ := (&s).Load(data, user); len(w) != 3 || s.Step != "" {
		t.Errorf("half an iteration: warnings %v, step %q", w, s.Step)
	}
	if s.Limit != 9 || s.CosSim != 0.5 || !s.Train || s.Atol != 0.001 || len(s.Casts) != 1 || s.Rows != 20 {
		t.Errorf("settings %+v", s)
	}
	if w, err := s.Load(filepath.Join(dir, "none.toml"), user); w != nil || err != nil {
		t.Error("a missing file is an error")
	}
}
