package graph

import "slices"

// Summary is an overview of a model.
type Summary struct {
	Path    string
	Source  Source
	Name    string
	Graphs  []GraphSummary
	Ops     int
	Types   []Count // operators by type, most frequent first
	DTypes  []Count // outputs by element type, most frequent first
	Layouts []Count // outputs by layout, most frequent first; "" for those without one
	Passes  []Count // operators by the graph and unified-buffer fusion passes that made them
	Casts   []*Casts
	// Fused counts operators that stand for several framework operators, Inserted those that stand for none,
	// Unstated those the graph says nothing about.
	Fused    int
	Inserted int
	Unstated int
	Origins  int // distinct framework operators
	Streams  int
	Dynamic  int // operators of unknown shape
	Options  []Option
	Build    []Option // provenance of an offline model: command line, versions
	Warnings []Warning
}

// GraphSummary is an overview of one graph.
type GraphSummary struct {
	Name    string
	Session string // session and graph number, key of fusion statistics
	Ops     int
	Calls   []string // names of the graphs it calls
	Dynamic bool
}

// Option is a setting of the run that built the graph.
type Option struct {
	Scope string // Global, Session or Graph; "" for an offline model
	Key   string
	Value string
}

// buildKeys are attributes of an offline model that tell how it was made.
var buildKeys = []string{"atc_cmdline", "atc_version", "opp_version", "soc_version", "framework_type"}

// precisionKeys are the options that decide about precision, in the order worth reading.
var precisionKeys = []string{"ge.exec.precision_mode", "ge.exec.precision_mode_v2", "ge.exec.modify_mixlist",
	"ge.exec.op_precision_mode", "ge.opSelectImplmode", "ge.optypelistForImplmode", "ge.fusionSwitchFile", "ge.deterministic",
	"ge.exec.allow_hf32", "ge.customizeDtypes", "ge.exec.overflow", "ge.graphLevelSat", "ge.jit_compile", "ge.enableSmallChannel",
	"ge.socVersion", "ge.exec.enableDump", "ge.exec.dumpPath", "ge.exec.dumpStep", "ge.exec.dumpMode", "ge.exec.enableDumpDebug"}

// Options returns the settings stored with the graphs of a model: those of the main graph at dump levels that keep
// attributes, in file order.
func (m *Model) Options() (out []Option) {
	for _, g := range m.Graphs {
		for _, scope := range [...]string{"Global", "Session", "Graph"} {
			for _, f := range g.Attrs.Get(scope + "Options").Funcs() {
				for _, a := range f.Attrs {
					o := Option{scope, a.Key(), a.Value.String()}
					if !slices.Contains(out, o) {
						out = append(out, o)
					}
				}
			}
		}
		if v := g.Attrs.Get("ge.deterministic"); v != nil {
			if o := (Option{"Graph", "ge.deterministic", v.String()}); !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	return out
}

// PrecisionOptions returns the options that decide about precision, for each the last that is set (graph over session
// over global), in the order worth reading.
func PrecisionOptions(all []Option) (out []Option) {
	for _, key := range precisionKeys {
		best := -1
		for i, o := range all {
			if o.Key == key && (best < 0 || o.Value != "" || all[best].Value == "") {
				best = i
			}
		}
		if best >= 0 {
			out = append(out, all[best])
		}
	}
	return out
}

// Summary counts what is in the model.
func (m *Model) Summary() *Summary {
	s := &Summary{Path: m.Path, Source: m.Source, Name: m.Name, Casts: m.Casts(DefaultCastRules), Options: m.Options(), Warnings: m.Warnings}
	for _, key := range buildKeys {
		if t := m.Attrs.Get(key).String(); t != "" {
			s.Build = append(s.Build, Option{Key: key, Value: t})
		}
	}
	var types, dtypes, layouts, passes tally
	total := 0
	for _, g := range m.Graphs {
		total += len(g.Ops)
	}
	origins := make([]string, 0, total)
	streams := map[int64]bool{}
	for _, g := range m.Graphs {
		gs := GraphSummary{Name: g.Name, Session: g.Attrs.Get("_session_graph_id").Text(), Ops: len(g.Ops),
			Dynamic: g.Attrs.Get("_dynamic_shape_partitioned").Bool()}
		for _, o := range g.Ops {
			s.Ops++
			types.add(o.Type)
			streams[o.StreamID] = true
			for i := range o.OutputDesc {
				d := &o.OutputDesc[i]
				if d.DType == "" {
					dtypes.add(Undefined)
				} else {
					dtypes.add(d.DType)
				}
				layouts.add(d.Layout)
			}
			for _, p := range o.Passes() {
				passes.add(p)
			}
			for _, p := range o.UBPasses() {
				passes.add(p)
			}
			names, stated := o.OriginNames()
			origins = append(origins, names...)
			switch {
			case !stated:
				s.Unstated++
			case len(names) == 0:
				s.Inserted++
			case len(names) > 1:
				s.Fused++
			}
			if o.Attr("_unknown_shape").Bool() || o.Attr("_is_unknown_shape").Bool() {
				s.Dynamic++
			}
			gs.Calls = append(gs.Calls, o.SubgraphNames...)
		}
		s.Graphs = append(s.Graphs, gs)
	}
	s.Types, s.DTypes, s.Layouts, s.Passes = types.byCount(), dtypes.byCount(), layouts.byCount(), passes.byCount()
	slices.Sort(origins) // in place, where a set of a large graph's names would be as large as the names
	s.Origins, s.Streams = len(slices.Compact(origins)), len(streams)
	return s
}
