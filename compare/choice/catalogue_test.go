package choice

import (
	"testing"

	catalogue "precision/op"
)

// Every word that the catalogue has for how an operator chooses means something here.
func TestCatalogueWords(t *testing.T) {
	n := 0
	for _, r := range catalogue.All() {
		if word, _ := catalogue.Call(r.Choice); word != "" {
			n++
			if looks[word] == nil {
				t.Errorf("%v: no choice %q", r.Names, word)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d rows choose", n)
	}
}
