package console

import "testing"

func TestColoured(t *testing.T) {
	for _, c := range []struct {
		no, force      string
		terminal, want bool
	}{
		{"", "", true, true}, {"", "", false, false}, {"1", "", true, false},
		{"", "1", false, true}, {"", "0", false, false}, {"", "0", true, true}, {"1", "1", true, false},
	} {
		t.Setenv("TERM", "xterm")
		t.Setenv("NO_COLOR", c.no)
		t.Setenv("CLICOLOR_FORCE", c.force)
		if got := Coloured(c.terminal); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("CLICOLOR_FORCE", "")
	t.Setenv("TERM", "dumb")
	if Coloured(true) {
		t.Error("a dumb terminal gets colours")
	}
}
