package oracle

import (
	"testing"

	catalogue "precision/op"
)

// Every function whose form moves data is movement for the judge, too.
func TestMovesAreKnown(t *testing.T) {
	all := forms
	defer func() { forms = all }()
	forms = map[string]*function{}
	moveForms()
	found := 0
	for _, row := range catalogue.All() {
		for _, call := range row.Calls {
			if forms[call.Form] == nil {
				continue
			}
			if found++; row.Traits&catalogue.Moves == 0 {
				t.Errorf("%v: no movement for the judge", row.Names)
			}
		}
	}
	if found < 40 {
		t.Errorf("found %d rows", found)
	}
}
