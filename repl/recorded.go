package repl

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"precision/compare/recording"
	"precision/compare/report"
	"precision/console"
	"precision/internal/must"
	"precision/internal/nd"
)

// Recordings of calls in the shell: ls lists their calls, ni shows one.

// recordedCalls lists the calls of a recording: by type, or those that match.
func (l *lsCmd) recordedCalls(s *session, dir string) int {
	counts := map[string]int{}
	var order []string
	var rows [][]string
	err := recording.Each(dir, false, func(c *recording.Call) bool {
		if !strings.Contains(c.Name, l.query.Name) || !strings.Contains(c.Type, l.query.Type) {
			return true
		}
		if l.query.Empty() {
			if counts[c.Type]++; counts[c.Type] == 1 {
				order = append(order, c.Type)
			}
			return true
		}
		rows = append(rows, []string{s.Screen.Green("[" + c.Type + "]"), partName(c), console.Clean(c.Source)})
		return true
	})
	must.Do(err)
	if l.query.Empty() {
		for _, name := range order {
			rows = append(rows, []string{s.Screen.Green(name), strconv.Itoa(counts[name])})
		}
		s.Page(s.Screen.Table(filepath.Base(dir), []string{"Type", "Count"}, rows))
		return exitOK
	}
	if len(rows) == 0 {
		s.Say("ls.none")
		return exitNothing
	}
	s.Page(s.Screen.Table(filepath.Base(dir), []string{"Type", "Call", "Source"}, rows))
	s.Say("ls.calls", len(rows))
	return exitOK
}

// partName is the name of a call, with its step and rank where there are several.
func partName(c *recording.Call) string {
	if c.Part == "" {
		return console.Clean(c.Name)
	}
	return console.Clean(c.Part + "/" + c.Name)
}

// mostCalls is how many calls ni shows.
const mostCalls = 20

// recorded shows the calls of a recording whose name is or holds the one given.
func (n *niCmd) recorded(ctx context.Context, s *session) int {
	var exact, part []*recording.Call
	err := recording.Each(n.recording, true, func(c *recording.Call) bool {
		switch {
		case c.Name == n.name || partName(c) == n.name:
			exact = append(exact, c)
		case strings.Contains(c.Name, n.name) && len(part) <= mostCalls:
			part = append(part, c)
		}
		return ctx.Err() == nil
	})
	must.Do(cmp.Or(err, ctx.Err()))
	if len(exact) == 0 {
		exact = part
	}
	if len(exact) == 0 {
		return s.Lack("ni.none", n.name)
	}
	var b strings.Builder
	for i, c := range exact {
		if i == mostCalls {
			b.WriteString(s.T("ni.more"))
			break
		}
		c.Measure(ctx)
		b.WriteString(s.callPanel(c))
	}
	s.Page(b.String())
	return exitOK
}

// callPanel shows a call: its values, what feeds them, and the lines that made it.
func (s *session) callPanel(c *recording.Call) string {
	var rows [][]string
	for i := range c.Values {
		v := &c.Values[i]
		kind, shape := v.Summary.Class, ""
		if v.Shape != nil || v.DType != "" {
			kind, shape = v.DType, nd.Tuple(v.Shape)
		}
		from := ""
		if v.From != "" {
			from = v.From + ":" + strconv.Itoa(v.Output)
		}
		rows = append(rows, []string{v.Place, console.Clean(kind), shape, console.Clean(report.SummaryText(v.Summary)), console.Clean(from), console.Clean(v.File)})
	}
	text := s.Screen.Table(s.Screen.Green("["+c.Type+"]")+" "+partName(c), []string{"Place", "Type", "Shape", "Value", "From", "File"}, rows)
	if c.Inside != "" {
		text += s.T("ni.inside", console.Clean(c.Inside)) + "\n"
	}
	for _, line := range c.Stack {
		text += "  " + console.Clean(line) + "\n"
	}
	return text
}
