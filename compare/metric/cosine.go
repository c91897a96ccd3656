package metric

import "math"

// Σxy / (√Σx² · √Σy²), not computed of scalars in Exact numerics. In Reference
// numerics elements are divided by the norms before they are multiplied, booleans
// are counted, and the cosine of scalars is 1.
var cosineSimilarity = definition{
	name: "CosineSimilarity",
	needs: func(cfg *Config) sums {
		if cfg.Scalar {
			return 0
		}
		return sumsOfCentered
	},
	exact: func(r *exactRun, cfg *Config, note func(Note)) Value {
		s := &r.sums
		switch {
		case cfg.Scalar:
			note(Note{Kind: NoteScalar})
			return Value{}
		case s.disagree > 0:
			return Value{}
		case s.xx.m == 0 && s.yy.m != 0:
			note(Note{Kind: NoteAllZero, Side: Mine})
			return Value{}
		case s.xx.m != 0 && s.yy.m == 0:
			note(Note{Kind: NoteAllZero, Side: Golden})
			return Value{}
		}
		return numberValue(s.cosine())
	},
	reference: referenceCosine,
	boolean:   true,
}

func referenceCosine(r *referenceRun, cfg *Config, note noter) Value {
	nx, ny := float64(r.kx.norm), float64(r.ky.norm)
	if cfg.Boolean {
		nx, ny = math.Sqrt(r.sums.x), math.Sqrt(r.sums.y)
	}
	switch {
	case cfg.Scalar:
		note(NoteScalar, Mine)
		return numberValue(1)
	case nx <= epsilon64 && ny < epsilon64:
		return Value{form: bothZero}
	case nx == 0:
		note(NoteAllZero, Mine)
		return Value{}
	case ny == 0:
		note(NoteAllZero, Golden)
		return Value{}
	case cfg.Boolean:
		both := (r.sums.x + r.sums.y - r.differ) / 2 // true on both sides
		return numberValue(min(1, both*(1/nx)*(1/ny)))
	}
	return numberValue(float64(min(r.middles.cos, 1)))
}
