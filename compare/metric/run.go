package metric

// Run computes the metrics of one pair of tensors, in one to three passes over
// its tiles. Every pass reduces each tile to a [Partial], in any order and in
// any goroutine, and folds the partials in tile order.
type Run struct {
	cfg     Config
	metrics []Metric
	needs   sums
	exact   exactRun
	ref     referenceRun
}

// Partial is what a pass keeps of a tile. The zero Partial is ready for use,
// and reusing one saves memory: Reduce overwrites it.
type Partial struct {
	exact exactPartial
	ref   referencePartial
}

// NewRun starts a comparison.
func NewRun(cfg Config) *Run {
	r := &Run{cfg: cfg, metrics: cfg.Metrics}
	if cfg.Metrics == nil {
		r.metrics = Default(cfg.Numerics)
	}
	for _, m := range r.metrics {
		if needs := table[m].needs; needs != nil {
			r.needs |= needs(&cfg)
		}
	}
	r.exact.within = cfg.Tolerance
	return r
}

// Reduce32 computes the partial sums of a tile: x is mine, y is golden. They
// have the same length, and all tiles but the last have TileLen elements. It
// only reads the run.
func (r *Run) Reduce32(p *Partial, x, y []float32) {
	y = y[:len(x)]
	if r.cfg.Numerics == Reference {
		r.ref.reduce(&p.ref, x, y)
	}
	if r.sumsExactly() {
		r.exact.reduce32(&p.exact, x, y)
	}
}

// Reduce64 is Reduce32 for element types that a float32 does not hold. In
// Reference numerics the elements are rounded to float32 first, as msaccucmp
// does.
func (r *Run) Reduce64(p *Partial, x, y []float64) {
	y = y[:len(x)]
	if r.cfg.Numerics == Reference {
		r.ref.reduce(&p.ref, narrow(&p.ref.x, x), narrow(&p.ref.y, y))
	}
	if r.sumsExactly() {
		r.exact.reduce64(&p.exact, x, y)
	}
}

func narrow(buf *[]float32, v []float64) []float32 {
	if cap(*buf) < len(v) {
		*buf = make([]float32, len(v))
	}
	b := (*buf)[:len(v)]
	for i, f := range v {
		b[i] = float32(f)
	}
	return b
}

// Fold adds the partial of the next tile. Tiles must be folded in their order;
// that makes the digits independent of who reduced them and when.
func (r *Run) Fold(p *Partial) {
	if r.cfg.Numerics == Reference {
		r.ref.fold(&p.ref)
	}
	if r.sumsExactly() {
		r.exact.fold(&p.exact)
	}
}

// sumsExactly tells whether the pass takes the sums of Exact numerics: in
// Reference numerics the first one does, for the facts.
func (r *Run) sumsExactly() bool {
	return r.cfg.Numerics == Exact || r.ref.pass == 0 && !r.cfg.TableOnly
}

// Next ends a pass. If it returns true, all tiles are to be reduced and folded
// once more.
func (r *Run) Next() bool {
	if r.cfg.Numerics == Reference {
		return r.ref.next(r)
	}
	return r.exact.next(r)
}

// Result is what the run came to, after Next has returned false.
func (r *Run) Result() Result {
	if r.cfg.Numerics == Reference {
		return r.referenceResult()
	}
	return r.exactResult()
}

// Compute32 compares whole tensors of the same length, x being mine and y
// golden.
func Compute32(cfg Config, x, y []float32) Result {
	return compute(cfg, x, y, (*Run).Reduce32)
}

// Compute64 is Compute32 for element types that a float32 does not hold.
func Compute64(cfg Config, x, y []float64) Result {
	return compute(cfg, x, y, (*Run).Reduce64)
}

func compute[T float32 | float64](cfg Config, x, y []T, reduce func(*Run, *Partial, []T, []T)) Result {
	r := NewRun(cfg)
	var p Partial
	for {
		for lo := 0; lo < len(x); lo += TileLen {
			hi := min(lo+TileLen, len(x))
			reduce(r, &p, x[lo:hi], y[lo:hi])
			r.Fold(&p)
		}
		if !r.Next() {
			return r.Result()
		}
	}
}
