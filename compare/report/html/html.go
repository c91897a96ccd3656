// Package html renders a judged table as one page to look at: a single file
// with the verdict, the error over execution order, a table, the graph and what
// is known of each operator. It is opened by a double click, without network or
// server.
//
// The data are embedded once, in columns: the JSON that [report.ReadJSON]
// reads, gzipped and in base64, with one more member "page" for what the
// page shows besides. [Read] gets it out again. The page judges nothing.
//
// Its script is the modules of assets/, joined in order. They are ES modules
// that import each other by name; joined they need no import, which a file
// opened from the disk would not be allowed: [join] makes a function of each. Nothing is fetched: the content
// security policy of the page names the hashes of what is in it and forbids
// all else.
package html

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
	"sync"

	"precision/compare/report"
	"precision/compare/report/html/uplot"
	"precision/compare/verdict"
	"precision/internal/lazy"
	"precision/internal/msg"
	"precision/internal/must"
)

// Options of [Write].
type Options struct {
	// Lang is the language the page opens in; the other is a click away.
	Lang msg.Lang
	// Records are the lines of overflow records, if there are any.
	Records []string
	// NoLooks says why the elements of operators were not looked at, empty if
	// they were or nobody asked.
	NoLooks string
}

//go:embed assets
var assets embed.FS

// Sheet is a kind of page: a body and a script, and the style that all have in common.
type Sheet struct {
	body    string
	modules []string // of the script, each after those it imports from
	frames  bool     // pages beside it are shown within it

	parts func() *fixed
}

// The pages there are.
var (
	Comparison = newSheet("page", false, "text", "data", "state", "format", "marks", "top", "svg", "look", "cards", "chart", "filter", "table", "layout", "fold", "graph", "advice", "panel", "tree", "keys", "main")
	Check      = newSheet("check", false, "text", "data", "state", "format", "marks", "look", "top", "svg", "chart", "filter", "table", "keys", "check")
	Job        = newSheet("job", true, "text", "data", "state", "format", "marks", "top", "keys", "job")
	Rollout    = newSheet("rollout", false, "text", "data", "state", "format", "marks", "top", "keys", "rollout")
	Preflight  = newSheet("preflight", false, "text", "data", "state", "format", "marks", "top", "svg", "filter", "table", "keys", "preflight")
)

func newSheet(body string, frames bool, modules ...string) *Sheet {
	s := &Sheet{body: body, modules: modules, frames: frames}
	s.parts = sync.OnceValue(s.join)
	return s
}

// Write writes the page of a comparison.
func Write(to io.Writer, j *verdict.Judged, o Options) error {
	title := j.Table.Meta.Left.Dir
	own, err := page(j, o, title)
	if err != nil {
		return err
	}
	return Comparison.write(to, o.Lang, title, func(w *parts) error {
		return report.WriteSaved(w, j, &report.Page{Own: own, Late: func(column string) bool { return late[column] }, Next: w.next})
	})
}

// Write writes a page of a kind with its data, a JSON object whose member "page" has what the script needs: lang, say
// with the texts of each language, and what is the page's own.
func (s *Sheet) Write(to io.Writer, lang msg.Lang, title string, data func(io.Writer) error) error {
	return s.write(to, lang, title, func(w *parts) error { return data(w) })
}

func (s *Sheet) write(to io.Writer, lang msg.Lang, title string, data func(*parts) error) error {
	head := s.parts()
	out := &writer{to: to}
	fmt.Fprintf(out, `<!doctype html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
<style>%s</style>
</head>
<body>
%s
<script type="application/gzip;base64" id="precision">`, lang, head.policy, html.EscapeString(report.Clean("precision: "+title)), head.uplotStyle, head.style, head.body)
	zipped := &parts{to: out}
	if err := data(zipped); err != nil {
		return err
	}
	if err := zipped.close(); err != nil {
		return err
	}
	fmt.Fprintf(out, "</script>\n<script>%s</script>\n<script type=\"module\">%s</script>\n</body>\n</html>\n", head.uplot, head.script)
	return out.err
}

// parts writes data gzipped and in base64, on a line for each part. All lines are one text in base64 and one file of gzip.
type parts struct {
	to      io.Writer
	encoder io.WriteCloser
	zipped  *gzip.Writer
	length  int // of the part, zipped
}

func (p *parts) Write(b []byte) (int, error) {
	if p.encoder == nil {
		p.encoder = base64.NewEncoder(base64.StdEncoding, p.to)
		p.zipped = gzip.NewWriter(writerFunc(func(b []byte) (int, error) {
			p.length += len(b)
			return p.encoder.Write(b)
		}))
	}
	return p.zipped.Write(b)
}

// What gzip ends with: an empty block, the checksum and the length. Before it, empty blocks of five bytes bring a part to a multiple of
// three, which needs no padding in base64: nothing may come behind that.
const zippedEnd = 5 + 8

// next ends a part that another one follows.
func (p *parts) next() error {
	for more := true; more; more = (p.length+zippedEnd)%3 != 0 {
		if err := p.zipped.Flush(); err != nil {
			return err
		}
	}
	if err := p.close(); err != nil {
		return err
	}
	*p = parts{to: p.to}
	_, err := io.WriteString(p.to, "\n")
	return err
}

func (p *parts) close() error {
	if err := p.zipped.Close(); err != nil {
		return err
	}
	return p.encoder.Close()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// writer keeps the first error.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) Write(b []byte) (int, error) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
	return len(b), w.err
}

// fixed is what all pages of a kind have alike.
type fixed struct{ uplotStyle, style, uplot, script, body, policy string }

// join joins the assets. They are part of the program: one that is missing is a
// mistake in it, which every test finds.
func (s *Sheet) join() *fixed {
	p := &fixed{style: asset("assets/page.css"), body: sections().Replace(asset("assets/" + s.body + ".html"))}
	if strings.Contains(p.body, `id="charts"`) {
		p.uplotStyle, p.uplot = uplot.Style, uplot.Script
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, name := range s.modules {
		b.WriteString(join(name, asset("assets/"+name+".js")))
	}
	p.script = b.String()
	policy := []string{
		"default-src 'none'", "script-src " + hash(p.uplot) + " " + hash(p.script), "style-src " + hash(p.uplotStyle) + " " + hash(p.style),
		"img-src data:", "base-uri 'none'", "form-action 'none'",
	}
	if s.frames {
		policy = append(policy, "frame-src 'self' file:") // a page opened from a disk is of no origin that 'self' would mean
	}
	p.policy = strings.Join(policy, "; ")
	return p
}

// sections are the parts of bodies that several kinds of pages have, where their bodies name them.
var sections = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, name := range []string{"top", "matrix", "chart", "table", "rests"} {
		pairs = append(pairs, "<!--"+name+"-->\n", asset("assets/"+name+".html"))
	}
	return strings.NewReplacer(pairs...)
})

func asset(name string) string {
	b, err := fs.ReadFile(assets, name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// imports are the lines by which a module names what it takes of another,
// exports what it gives.
var (
	imports = lazy.Regexp(`(?m)^import \{(.*)\} from '\./(\w+)\.js';$`)
	exports = lazy.Regexp(`(?m)^export ((?:async )?(?:function|const|let|class)) (\w+)`)
)

// join makes a module a part of the one script: a function of its own, so that
// names stay apart, which returns what the module exports.
func join(name, module string) string {
	var given []string
	for _, m := range exports().FindAllStringSubmatch(module, -1) {
		given = append(given, m[2])
	}
	module = exports().ReplaceAllString(module, "$1 $2")
	module = imports().ReplaceAllStringFunc(module, func(line string) string {
		m := imports().FindStringSubmatch(line)
		return "const {" + strings.ReplaceAll(m[1], " as ", ": ") + "} = " + m[2] + "Module;"
	})
	return "const " + name + "Module = (() => {\n" + module + "return {" + strings.Join(given, ", ") + "};\n})();\n"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

const (
	dataBegin = `<script type="application/gzip;base64" id="precision">`
	dataEnd   = `</script>`
)

// IsPage tells whether a file that begins like this is a page. 64 KiB of it are
// enough.
func IsPage(front []byte) bool { return bytes.Contains(front, []byte(dataBegin)) }

// Read gets the table out of a page that [Write] wrote.
func Read(from io.Reader) (saved *report.Saved, err error) {
	data, at, err := Data(from)
	if err != nil {
		return nil, err
	}
	if saved, err = report.ReadJSON(data); err != nil {
		err = fmt.Errorf("data at offset %d: %w; expected those of a comparison, not of a job, a check or a preflight", at, err)
	}
	return saved, err
}

// Data are the data of a page of any kind, and the offset at which they begin.
func Data(from io.Reader) (data io.Reader, at int, err error) {
	defer must.Catch(&err)
	all := must.Get(io.ReadAll(from))
	begin := bytes.Index(all, []byte(dataBegin))
	must.Not(begin < 0, "found no data, expected %s", dataBegin)
	begin += len(dataBegin)
	end := bytes.Index(all[begin:], []byte(dataEnd))
	must.Not(end < 0, "offset %d: the data have no end, expected %s", begin, dataEnd)
	unzipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(all[begin:begin+end])))
	must.Not(err != nil, "offset %d: %w, expected gzip in base64", begin, err)
	return unzipped, begin, nil
}
