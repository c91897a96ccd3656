package report

import (
	"strings"

	"precision/preflight/manifest"
)

// Manifest says what two manifests differ in.
func (t Text) Manifest(d *manifest.Difference) string {
	t.manifest(d)
	return t.b.String()
}

func (t *Text) manifest(d *manifest.Difference) {
	switch all := max(d.FilesA, d.FilesB); {
	case d.OnlyACount+d.OnlyBCount+d.ChangedCount > 0:
		t.verdict(true, t.say("manifest.differ", d.Same, all))
	case d.Differs():
		t.verdict(true, t.say("manifest.open", d.Same, all))
	default:
		t.verdict(false, t.say("manifest.same", d.Same))
	}
	for _, c := range []struct {
		key string
		n   int
	}{{"changed", d.ChangedCount}, {"only-a", d.OnlyACount}, {"only-b", d.OnlyBCount}, {"moved", len(d.Moved)}, {"unproven", d.UnprovenCount}, {"unread", d.UnreadCount}} {
		if c.n > 0 {
			t.label(c.key, t.say("files", c.n))
		}
	}
	change := func(list []manifest.Change) func(int) string {
		return func(i int) string {
			return name(list[i].A.Path) + "  " + t.paint(Note, t.what(&list[i].A)+" | "+t.what(&list[i].B))
		}
	}
	entry := func(list []manifest.Entry) func(int) string {
		return func(i int) string { return name(list[i].Path) + "  " + t.paint(Note, t.what(&list[i])) }
	}
	t.list(t.say("manifest.changed"), len(d.Changed), d.ChangedCount, change(d.Changed))
	t.list(t.say("manifest.only-a"), len(d.OnlyA), d.OnlyACount, entry(d.OnlyA))
	t.list(t.say("manifest.only-b"), len(d.OnlyB), d.OnlyBCount, entry(d.OnlyB))
	t.list(t.say("manifest.moved"), len(d.Moved), len(d.Moved), func(i int) string {
		return name(d.Moved[i].From.Path) + " -> " + name(d.Moved[i].To.Path)
	})
	t.list(t.say("manifest.unproven"), len(d.Unproven), d.UnprovenCount, change(d.Unproven))
	t.list(t.say("manifest.unread"), len(d.Unread), d.UnreadCount, change(d.Unread))
}

// what is known of a file: its size and the front of a hash.
func (t *Text) what(e *manifest.Entry) string {
	var parts []string
	switch {
	case e.Unread:
		return t.say("manifest.unreadable")
	case e.Size >= 0:
		parts = append(parts, t.say("bytes", e.Size))
	}
	switch {
	case e.MD5 != "":
		parts = append(parts, "md5 "+e.MD5[:8]+"…")
	case e.SHA256 != "":
		parts = append(parts, "sha256 "+e.SHA256[:8]+"…")
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, t.say("manifest.also"))
}
