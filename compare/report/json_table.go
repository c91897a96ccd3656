package report

import (
	"maps"
	"slices"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// The columns of the member "table" of the JSON file: all that a result.Table
// holds. A field that is added there gets its column here; a test fails until it
// has one.

var (
	roleNames     = []string{result.Output.String(), result.Input.String(), result.Whole.String()}
	sideNames     = []string{"left", "right"}
	numericsNames = []string{metric.Exact.String(), metric.Reference.String()}
	metricNames   = allMetrics()
	noteNames     = []string{
		metric.NoteScalar: "scalar", metric.NoteAllZero: "all-zero", metric.NoteInfinite: "infinite", metric.NoteBoolean: "boolean",
		metric.NoteBooleanDifference: "boolean-difference", metric.NoteNoMaximum: "no-maximum", metric.NoteEmpty: "empty",
		metric.NoteNothingFinite: "nothing-finite", metric.NoteDisagree: "disagree", metric.NoteZeroGolden: "zero-golden", metric.NoteRounded: "rounded",
	}
)

func allMetrics() (list []string) {
	for m := range metric.Metric(metric.Count) {
		list = append(list, m.String())
	}
	return list
}

// rowSet is what is kept of the rows; metrics gives what the elements of a row came
// to, for writing [result.Row.Result], for reading [result.Row.Measured].
func rowSet(at func(int) *result.Row, metrics func(*result.Row) *metric.Result) set {
	s := set{columns: []column{
		words("op", func(i int) *string { return &at(i).Op }),
		words("type", func(i int) *string { return &at(i).Type }),
		integers("index", func(i int) *int { return &at(i).Index }),
		integers("sequence", func(i int) *int64 { return &at(i).Sequence }),
		names("role", roleNames, func(i int) *result.Role { return &at(i).Role }),
		integers("slot", func(i int) *int { return &at(i).Slot }),
		shapes("shape", func(i int) *[]int64 { return &at(i).Shape }),
		flags("compared", func(i int) *bool { return &at(i).Compared }),
		words("overflow", func(i int) *string { return &at(i).Overflow }),
		integers("order", func(i int) *int { return &at(i).Facts.Order }),
		flags("scalar", func(i int) *bool { return &at(i).Facts.Scalar }),
		flags("sliced", func(i int) *bool { return &at(i).Facts.Sliced }),
		flags("unpaired", func(i int) *bool { return &at(i).Facts.Unpaired }),
		words("producer", func(i int) *string { return &at(i).Facts.Producer.Op }),
		integers("producer_output", func(i int) *int { return &at(i).Facts.Producer.Index }),
	}}
	for _, side := range []struct {
		name string
		of   func(int) *result.Operand
	}{
		{"left_", func(i int) *result.Operand { return &at(i).Left }},
		{"right_", func(i int) *result.Operand { return &at(i).Right }},
	} {
		of := side.of
		s.columns = append(s.columns,
			words(side.name+"names", func(i int) *string { return &of(i).Names }),
			words(side.name+"file", func(i int) *string { return &of(i).File }),
			integers(side.name+"dtype", func(i int) *dtype.Type { return &of(i).DType }),
			shapes(side.name+"shape", func(i int) *[]int64 { return &of(i).Shape }),
			addresses(side.name+"address", func(i int) **uint64 { return &of(i).Address }))
	}
	r := resultSet(func(i int) *metric.Result { return metrics(at(i)) })
	s.columns = append(s.columns, r.columns...)
	s.parts = append(r.parts,
		sparse("reasons",
			func(row int, yield func(*result.Reason)) { eachOf(at(row).Reasons, yield) },
			func(row int, r result.Reason) { at(row).Reasons = append(at(row).Reasons, r) },
			reasonSet),
		sparse("damaged",
			func(row int, yield func(*result.Damage)) {
				if d := at(row).Damage; d != nil {
					yield(d)
				}
			},
			func(row int, d result.Damage) { at(row).Damage = &d },
			damageSet),
		sparse("saturated",
			func(row int, yield func(*result.Saturated)) {
				if s := at(row).Saturated; s != nil {
					yield(s)
				}
			},
			func(row int, s result.Saturated) { at(row).Saturated = &s },
			func(at func(int) *result.Saturated) set {
				s := resultSet(func(i int) *metric.Result { return &at(i).Result })
				count := integers("count", func(i int) *int64 { return &at(i).Count })
				s.columns = append([]column{count}, s.columns...)
				return s
			}),
		sparse("chosen",
			func(row int, yield func(*result.Chosen)) {
				if c := at(row).Chosen; c != nil {
					yield(c)
				}
			},
			func(row int, c result.Chosen) { at(row).Chosen = &c },
			func(at func(int) *result.Chosen) set {
				s := resultSet(func(i int) *metric.Result { return &at(i).Result })
				s.columns = append([]column{
					integers("choices", func(i int) *int64 { return &at(i).Choices }),
					integers("chosen_otherwise", func(i int) *int64 { return &at(i).Differ }),
					integers("explained", func(i int) *int64 { return &at(i).Explained }),
					flags("unknown", func(i int) *bool { return &at(i).Unknown }),
					integers("left_out", func(i int) *int64 { return &at(i).Left }),
					flags("mixed", func(i int) *bool { return &at(i).Mixed }),
				}, s.columns...)
				return s
			}),
		sparse("recorded",
			func(row int, yield func(*result.Recorded)) {
				if r := at(row).Recorded; r != nil {
					yield(r)
				}
			},
			func(row int, r result.Recorded) {
				saidOf(&r.Left) // a column may be missing where all is empty
				saidOf(&r.Right)
				at(row).Recorded = &r
			},
			recordedSet),
		sparse("custom",
			func(row int, yield func(*named)) {
				custom := at(row).Custom
				for _, name := range slices.Sorted(maps.Keys(custom)) {
					yield(&named{name, custom[name]})
				}
			},
			func(row int, n named) {
				if at(row).Custom == nil {
					at(row).Custom = map[string]string{}
				}
				at(row).Custom[n.name] = n.text
			},
			func(at func(int) *named) set {
				return set{columns: []column{
					words("name", func(i int) *string { return &at(i).name }),
					words("text", func(i int) *string { return &at(i).text }),
				}}
			}))
	return s
}

// named is the text of a user's algorithm.
type named struct{ name, text string }

func eachOf[T any](list []T, yield func(*T)) {
	for i := range list {
		yield(&list[i])
	}
}

// resultSet is what is kept of the numbers of a pair: metrics under their names,
// and the facts.
func resultSet(at func(int) *metric.Result) set {
	s := set{columns: []column{integers("n", func(i int) *int64 { return &at(i).N })}}
	for m := range metric.Count {
		s.columns = append(s.columns, values(metric.Metric(m).String(), func(i int) *metric.Value { return &at(i).Values[m] }))
	}
	s.columns = append(s.columns,
		integers("metrics_agree", func(i int) *int64 { return &at(i).AgreeNonFinite }),
		integers("metrics_disagree", func(i int) *int64 { return &at(i).Disagree }))
	s.columns = append(s.columns, element("metrics_first_disagree", func(i int) *metric.Element { return &at(i).FirstDisagree })...)
	s.columns = append(s.columns,
		integers("metrics_zero_golden", func(i int) *int64 { return &at(i).ZeroGolden }),
		numbers("metrics_zero_golden_max", func(i int) *float64 { return &at(i).ZeroGoldenMax }))
	s.columns = append(s.columns, factColumns(func(i int) *metric.Facts { return &at(i).Facts })...)
	s.parts = []part{sparse("notes",
		func(row int, yield func(*metric.Note)) { eachOf(at(row).Notes, yield) },
		func(row int, n metric.Note) { at(row).Notes = append(at(row).Notes, n) },
		func(at func(int) *metric.Note) set {
			return set{columns: []column{
				names("kind", noteNames, func(i int) *metric.NoteKind { return &at(i).Kind }),
				names("numerics", numericsNames, func(i int) *metric.Numerics { return &at(i).Numerics }),
				names("metric", metricNames, func(i int) *metric.Metric { return &at(i).Metric }),
				names("side", sideNames, func(i int) *metric.Side { return &at(i).Side }),
				integers("count", func(i int) *int64 { return &at(i).Count }),
				integers("of", func(i int) *int64 { return &at(i).Of }),
				integers("index", func(i int) *int64 { return &at(i).Index }),
				numbers("left", func(i int) *float64 { return &at(i).X }),
				numbers("right", func(i int) *float64 { return &at(i).Y }),
				numbers("largest", func(i int) *float64 { return &at(i).Largest }),
			}}
		})}
	return s
}

// factColumns are the facts of a pair.
func factColumns(at func(int) *metric.Facts) []column {
	list := []column{
		flags("facts", func(i int) *bool { return &at(i).Known }),
		integers("elements", func(i int) *int64 { return &at(i).N }),
		integers("finite", func(i int) *int64 { return &at(i).Finite }),
		integers("disagree", func(i int) *int64 { return &at(i).Disagree }),
		integers("agree", func(i int) *int64 { return &at(i).Agree }),
		integers("differ", func(i int) *int64 { return &at(i).Differ }),
		flags("bit_equal", func(i int) *bool { return &at(i).BitEqual }),
		numbers("max_abs", func(i int) *float64 { return &at(i).MaxAbs }),
		numbers("max_rel", func(i int) *float64 { return &at(i).MaxRel }),
		integers("nonzero_on_zero", func(i int) *int64 { return &at(i).NonzeroOnZero }),
		numbers("mean_error", func(i int) *float64 { return &at(i).MeanError }),
		numbers("cosine", func(i int) *float64 { return &at(i).Cosine }),
		numbers("distance", func(i int) *float64 { return &at(i).Distance }),
		numbers("scale", func(i int) *float64 { return &at(i).Scale }),
		numbers("unscaled", func(i int) *float64 { return &at(i).Unscaled }),
		integers("outside", func(i int) *int64 { return &at(i).Outside }),
		integers("rounded", func(i int) *int64 { return &at(i).Rounded }),
	}
	list = append(list, element("first_disagree", func(i int) *metric.Element { return &at(i).FirstDisagree })...)
	list = append(list, element("first_differ", func(i int) *metric.Element { return &at(i).FirstDiffer })...)
	list = append(list, element("worst", func(i int) *metric.Element { return &at(i).Worst })...)
	list = append(list, placeColumns("nan", func(i int) *metric.Places { return &at(i).NaN })...)
	list = append(list, placeColumns("inf", func(i int) *metric.Places { return &at(i).Inf })...)
	list = append(list, sideColumns("left_", func(i int) *metric.SideFacts { return &at(i).X })...)
	return append(list, sideColumns("right_", func(i int) *metric.SideFacts { return &at(i).Y })...)
}

// element is the place and the two values of an element.
func element(name string, at func(int) *metric.Element) []column {
	return []column{
		integers(name, func(i int) *int64 { return &at(i).Index }),
		numbers(name+"_left", func(i int) *float64 { return &at(i).X }),
		numbers(name+"_right", func(i int) *float64 { return &at(i).Y }),
		numbers(name+"_left_rest", func(i int) *float64 { return &at(i).XRest }),
		numbers(name+"_right_rest", func(i int) *float64 { return &at(i).YRest }),
	}
}

// placeColumns count elements by side.
func placeColumns(name string, at func(int) *metric.Places) []column {
	return []column{
		integers(name+"_left_only", func(i int) *int64 { return &at(i).X }),
		integers(name+"_right_only", func(i int) *int64 { return &at(i).Y }),
		integers(name+"_both", func(i int) *int64 { return &at(i).Both }),
	}
}

// sideColumns are the facts of one side.
func sideColumns(name string, at func(int) *metric.SideFacts) []column {
	return []column{
		integers(name+"nan", func(i int) *int64 { return &at(i).NaN }),
		integers(name+"inf", func(i int) *int64 { return &at(i).Inf }),
		integers(name+"zero", func(i int) *int64 { return &at(i).Zero }),
		numbers(name+"lo", func(i int) *float64 { return &at(i).Lo }),
		numbers(name+"hi", func(i int) *float64 { return &at(i).Hi }),
		numbers(name+"mean", func(i int) *float64 { return &at(i).Mean }),
		numbers(name+"deviation", func(i int) *float64 { return &at(i).Deviation }),
		numbers(name+"rms", func(i int) *float64 { return &at(i).RMS }),
	}
}

// opSet is what is kept of the operators of the network.
func opSet(at func(int) *result.Operator) set {
	return set{
		columns: []column{
			words("name", func(i int) *string { return &at(i).Name }),
			words("type", func(i int) *string { return &at(i).Type }),
			integers("index", func(i int) *int { return &at(i).Index }),
			integers("order", func(i int) *int { return &at(i).Order }),
			lists("framework", func(i int) *[]string { return &at(i).Framework }),
			flags("inserted", func(i int) *bool { return &at(i).Inserted }),
			flags("constant", func(i int) *bool { return &at(i).Constant }),
			flags("feed", func(i int) *bool { return &at(i).Feed }),
			flags("inner", func(i int) *bool { return &at(i).Inner }),
			flags("no_kernel", func(i int) *bool { return &at(i).NoKernel }),
			flags("skipped", func(i int) *bool { return &at(i).Skipped }),
			flags("dumped", func(i int) *bool { return &at(i).Dumped }),
			integers("outputs", func(i int) *int { return &at(i).Outputs }),
			flags("final", func(i int) *bool { return &at(i).Final }),
			flags("behind", func(i int) *bool { return &at(i).Behind }),
			flags("begins", func(i int) *bool { return &at(i).Begins }),
			shapes("leaves", func(i int) *[]int64 { return &at(i).Leaves }),
			integers("x", func(i int) *int { return &at(i).X }),
			integers("y", func(i int) *int { return &at(i).Y }),
			lists("uses", func(i int) *[]string { return &at(i).Uses }),
			words("meets", func(i int) *string { return &at(i).Meets }),
			words("lines", func(i int) *string { return &at(i).Lines }),
			integers("steps", func(i int) *int { return &at(i).Steps }),
			numbers("lost", func(i int) *float64 { return &at(i).Lost }),
			shapes("made", func(i int) *[]int64 { return &at(i).Made }),
		},
		parts: []part{sparse("inputs",
			func(row int, yield func(*result.Port)) { eachOf(at(row).Inputs, yield) },
			func(row int, p result.Port) { at(row).Inputs = append(at(row).Inputs, p) },
			func(at func(int) *result.Port) set {
				return set{columns: []column{
					words("op", func(i int) *string { return &at(i).Op }),
					integers("output", func(i int) *int { return &at(i).Index }),
				}}
			})},
	}
}
