package must

import (
	"errors"
	"testing"
)

// Errors come to the border; values of what succeeds do, and panics of others pass it.
func TestBorder(t *testing.T) {
	want := errors.New("broken")
	got := 0
	if err := Try(func() { got = Get(3, nil); Do(nil); Get(0, want); got = 4 }); err != want || got != 3 {
		t.Errorf("found %v and %d, expected %v and 3", err, got, want)
	}
	if err := Try(func() {}); err != nil {
		t.Errorf("found %v without an error", err)
	}
	if v, err := Of(func() int { return 5 }); v != 5 || err != nil {
		t.Errorf("found %d and %v, expected 5", v, err)
	}
	if v, err := Of(func() int { panic(Failure(want)) }); v != 0 || err != want {
		t.Errorf("found %d and %v, expected %v", v, err, want)
	}
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("found %v, expected the panic of somebody else", p)
		}
	}()
	_ = Try(func() { panic("other") })
}
