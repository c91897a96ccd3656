package verdict

import (
	"testing"

	catalogue "precision/op"
)

// Every word that the catalogue has for how errors go through an operator, and for its law, means something here.
func TestCatalogueWords(t *testing.T) {
	errors, lawful := 0, 0
	for _, r := range catalogue.All() {
		if word, _ := catalogue.Call(r.Error); word != "" {
			errors++
			if classes[word] == nil {
				t.Errorf("%v: no class %q", r.Names, word)
			}
		}
		if r.Law != "" {
			lawful++
			if laws[r.Law] == nil {
				t.Errorf("%v: no law %q", r.Names, r.Law)
			}
		}
	}
	if errors < 50 || lawful < 10 {
		t.Errorf("%d rows with a class and %d with a law", errors, lawful)
	}
}
