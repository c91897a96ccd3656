package console

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  ls  -t Conv2D ", []string{"ls", "-t", "Conv2D"}},
		{`pt "a b" 'c "d'`, []string{"pt", "a b", `c "d`}},
		{`pt a\ b \"q`, []string{"pt", "a b", `"q`}},
		{`pt C:\dir\x.npy`, []string{"pt", `C:\dir\x.npy`}},
		{`ls ""`, []string{"ls", ""}},
		{"ni 算子/卷积", []string{"ni", "算子/卷积"}},
	} {
		got, err := Words(c.line)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Words(%q) = %q, %v, want %q", c.line, got, err, c.want)
		}
	}
	if _, err := Words(`pt "a b`); err == nil {
		t.Error("an unfinished quotation is no error")
	}
}

func TestSplitCommands(t *testing.T) {
	got := Commands(`ac -c; run echo "a;b"; vcs -l 5`)
	if want := []string{"ac -c", ` run echo "a;b"`, " vcs -l 5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
