package spell

import "testing"

func TestNearest(t *testing.T) {
	list := []string{"compare", "check", "vc", "vcs", "block2/conv", "算子/卷积层"}
	for word, want := range map[string]string{
		"comapre": "compare", "compar": "compare", "compares": "compare", "chekc": "check",
		"vcx": "vcs", "vsc": "vcs", "block2/covn": "block2/conv", "blok/conv": "block2/conv", "算子/卷集层": "算子/卷积层",
		"": "", "xyz": "", "ls": "", "cmp": "", "something": "",
	} {
		if got := Nearest(word, list); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}
