package desktop

import "testing"

// TestRemote: over ssh nothing is opened, whatever the display is said to be.
func TestRemote(t *testing.T) {
	if open := opener(func(name string) string { return map[string]string{"SSH_CONNECTION": "1 2 3 4", "DISPLAY": ":0"}[name] }); open != nil {
		t.Errorf("a page is opened over ssh: %q", open)
	}
}
