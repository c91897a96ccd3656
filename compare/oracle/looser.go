package oracle

import "precision/dump/dtype"

// fewCalls is how many calls of a function in a narrow type have to be off before that is
// how the function is computed: of one call, a wrong factor looks the same.
const fewCalls = 2

// settleLooser decides on outputs that are wrong, and that one looser unit would explain. If it
// explains every output of the function that is beyond its bound, and the function needs it
// as a rule (at least in half of its calls), this is how the function is computed: with lower
// precision. If it were one call's fault, the others would not need it.
func settleLooser(findings []Finding) {
	type function struct {
		name string
		of   dtype.Type
	}
	type counts struct{ known, beyond, wrong int }
	group := func(f *Finding) function { return function{f.function, f.DType} }
	seen := map[function]counts{}
	for i := range findings {
		f := &findings[i]
		if f.Verdict == Unknown || f.function == "" {
			continue
		}
		n := seen[group(f)]
		n.known++
		if f.looser || f.Verdict == Suspect && len(f.Reasons) > 0 && f.Reasons[len(f.Reasons)-1].Kind == LowPrecision {
			n.beyond++
		} else if f.Verdict == Wrong {
			n.wrong++
		}
		seen[group(f)] = n
	}
	for i := range findings {
		f := &findings[i]
		n := seen[group(f)]
		if !f.looser || f.Verdict != Wrong || n.wrong > 0 || 2*n.beyond < n.known || n.beyond < fewCalls && precisionFor(f.DType).v > u32 {
			continue
		}
		f.Verdict, f.Pattern, f.Patterns = Suspect, "", nil
		f.Reasons = append(f.Reasons[:0], because(LowPrecision, f.Beyond))
	}
}
