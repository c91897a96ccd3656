package python

import (
	"strings"
	"testing"
	"time"
)

// Whatever stands in a program or a log ends, and soon.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"Namespace(a=1, b=[2, {'c': None}])", "{'a': <X.Y: 'z'>}", "a=[1,{2:3}]\\", "x(y='\\", strings.Repeat("[", 1000), "dict(a=lambda x: x, b=2)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		done := make(chan bool, 1)
		go func() {
			Read(text)
			Arguments(text)
			Statements(text)
			done <- true
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("it takes longer than that")
		}
	})
}
