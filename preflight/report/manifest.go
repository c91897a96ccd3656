package report

import (
	"strings"

	"precision/internal/each"
	"precision/preflight/config"
	"precision/preflight/manifest"
)

// Manifest is what two manifests differ in.
type Manifest struct{ *manifest.Difference }

func (d Manifest) say(t *Text) {
	switch all := max(d.FilesA, d.FilesB); {
	case d.Unlike() > 0:
		t.verdict(true, t.say("manifest.differ", d.Same, all))
	case d.Differs():
		t.verdict(true, t.say("manifest.open", d.Same, all))
	default:
		t.verdict(false, t.say("manifest.same", d.Same))
	}
	for _, what := range manifest.Whats() {
		if n := d.Lists[what].Count; n > 0 {
			t.label(string(what), t.say("files", n))
		}
	}
	for _, what := range manifest.Whats() {
		l := d.Lists[what]
		t.list(t.say("manifest."+string(what)), len(l.Files), l.Count, func(i int) string {
			f := t.file(what, &l.Files[i])
			switch {
			case what == manifest.Moved:
				return name(f.Key) + " -> " + name(f.KeyB)
			case f.A != "" && f.B != "":
				f.A += " | "
			}
			return name(f.Key) + "  " + t.paint(Note, f.A+f.B)
		})
	}
}

func (d Manifest) page(p *pageData) {
	p.Verdict = verdictOf(d.Unlike() > 0, d.Differs())
	t := Text{}                                                                        // sizes and hashes are the same words in both languages
	moved := map[manifest.What]map[string]bool{manifest.OnlyA: {}, manifest.OnlyB: {}} // listed under their new names alone
	for _, m := range d.Lists[manifest.Moved].Files {
		moved[manifest.OnlyA][m.A.Path], moved[manifest.OnlyB][m.B.Path] = true, true
	}
	for _, what := range []manifest.What{manifest.Changed, manifest.Unproven, manifest.Unread, manifest.Moved, manifest.OnlyA, manifest.OnlyB} {
		for _, c := range d.Lists[what].Files {
			if r := t.file(what, &c); !moved[what][r.Key] {
				p.Rows.add(r)
			}
		}
	}
}

func (d Manifest) json() map[string]any {
	members := map[string]any{"kind": "manifest", "differs": d.Differs(), "files_a": d.FilesA, "files_b": d.FilesB, "same": d.Same}
	for what, l := range d.Lists {
		key := strings.ReplaceAll(string(what), "-", "_")
		members[key+"_count"], members[key] = l.Count, l.Files
	}
	members["only_a"] = each.Of(d.Lists[manifest.OnlyA].Files, func(c manifest.Change) manifest.Entry { return c.A })
	members["only_b"] = each.Of(d.Lists[manifest.OnlyB].Files, func(c manifest.Change) manifest.Entry { return c.B })
	delete(members, "moved_count") // those of files that are listed
	return members
}

// file is a file as a row: what is known of it on either side.
func (t *Text) file(what manifest.What, c *manifest.Change) row {
	r := row{What: string(what), Key: c.A.Path, A: t.what(&c.A), B: t.what(&c.B)}
	switch what {
	case manifest.OnlyA:
		r.B = ""
	case manifest.OnlyB:
		r.Key, r.A = c.B.Path, ""
	case manifest.Moved:
		r.How, r.KeyB = string(config.ByName), c.B.Path
	}
	return r
}

// what is known of a file: its size and the front of a hash.
func (t *Text) what(e *manifest.Entry) string {
	var parts []string
	switch {
	case e.Unread:
		return t.say("manifest.unreadable")
	case e.Size >= 0:
		parts = append(parts, t.say("bytes", int64(e.Size)))
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
