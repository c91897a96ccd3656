package engine

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/integer"
)

// How a pair is computed
//
// The metric core asks for one to three passes over both tensors. A pass reads
// the same tile of both sides, widens it to float32 (or float64 where that
// loses digits), reduces it to partial sums and folds these in tile order. A
// tensor is never held as a whole unless it is small: up to keepElements the widened
// tiles of the first pass stay for the later ones, and up to mostHeld bytes it is read
// at once, as it is stored (repeats.go). A large tensor is cut into chunks
// of tiles that idle workers take from a shared counter; since the partial
// sums are folded in tile order whoever computed them, the digits do not
// depend on the number of workers.

const (
	// keepElements is the largest tensor whose widened elements are kept
	// between passes: 4 MiB a side and worker in float32, 8 MiB in float64, 16 MiB of
	// integers of 64 bits, which are kept beside it. Where outputs have as many elements the
	// command takes 0.75 of the processor time that it takes with 256 Ki, where
	// they have fewer the same.
	keepElements = 1 << 20
	// chunkTiles is the unit of work of a large tensor, 256 Ki elements:
	// small enough to balance, large enough to hide the cost of handing over.
	chunkTiles = 8
	// splitChunks is the number of chunks from which on other workers help.
	splitChunks = 4
)

// pairing is a pair of operands ready to be computed.
type pairing struct {
	left, right *operand
	// count is the number of elements to compare, at most that of each side.
	count int64
	cfg   metric.Config
	// wide: tiles are widened to float64, and 64-bit integers kept as well.
	wide bool
	// parts is 2 when both sides are complex: real and imaginary parts count
	// as elements of their own.
	parts int64
	// out are elements to leave out, nil for none.
	out *saturation
}

func newPairing(left, right *operand, count int64, cfg metric.Config) *pairing {
	p := &pairing{left: left, right: right, count: count, cfg: cfg, parts: 1}
	if cfg.Scalar && !slices.Contains(cfg.Metrics, metric.MaxRelativeError) {
		// The verdict on a scalar rests on it, selected or not.
		p.cfg.Metrics = append(slices.Clone(cfg.Metrics), metric.MaxRelativeError)
	}
	if cfg.Numerics == metric.Exact || !cfg.TableOnly { // facts are exact in either numerics
		p.wide = !left.typ.FitsFloat32() || !right.typ.FitsFloat32()
	}
	if cfg.Numerics == metric.Exact && left.typ.Parts() == 2 && right.typ.Parts() == 2 {
		p.parts = 2
	}
	return p
}

// pairing prepares a pair as the options have it. coarser is the type of either side that holds less.
func (o *Options) pairing(row *result.Row, left, right *operand, count int64, coarser dtype.Type, scalar, boolean bool) *pairing {
	cfg := metric.Config{Numerics: o.Numerics, TableOnly: o.TableOnly, Metrics: o.Metrics, Scalar: scalar, Boolean: boolean}
	if o.Tolerance != nil {
		cfg.Tolerance = o.Tolerance(row.Op, row.Type, coarser)
	}
	if o.MaxElements > 0 {
		count = min(count, o.MaxElements)
	}
	return newPairing(left, right, count, cfg)
}

// long tells whether a type has integers that float64 does not hold.
func long(t dtype.Type) bool { return t.IsInteger() && t.Bits() == 64 }

// whole tells whether the elements of a side are to be kept as integers: those of 64 bits,
// and any beside these.
func (p *pairing) whole(o *operand) bool {
	return p.wide && p.out == nil && (o.typ.IsInteger() || o.typ.IsBool()) && (long(p.left.typ) || long(p.right.typ))
}

// numbers is how many numbers the metrics see.
func (p *pairing) numbers() int64 { return p.count * p.parts }

// open starts a reader of a side (0 is left, 1 right) that takes over the
// buffers of the worker's last one.
func (s *Worker) open(side int, o *operand) Elements {
	e := o.open()
	if r, ok := e.(*layout.Reader); ok {
		r.Inherit(s.readers[side])
		s.readers[side] = r
	}
	return e
}

// grow returns a slice of length n, using s when it is large enough. A new one
// has room for the next power of two: tensors of a network come in all sizes,
// and buffers should settle soon.
func grow[T any](s []T, n int64) []T {
	if int64(cap(s)) < n {
		return make([]T, n, 1<<bits.Len64(uint64(n-1)))
	}
	return s[:n]
}

// compute runs all passes. The worker's crew lends further ones for large tensors.
func (p *pairing) compute(ctx context.Context, s *Worker) (metric.Result, error) {
	run := metric.NewRun(p.cfg)
	n := p.numbers()
	tiles := (n + metric.TileLen - 1) / metric.TileLen
	keep := n <= keepElements
	for pass := 0; ; pass++ {
		var err error
		if p.out != nil {
			p.out.counting = pass == 0
		}
		if tiles >= splitChunks*chunkTiles && !keep {
			err = p.split(ctx, run, tiles, s)
		} else {
			err = p.sweep(ctx, run, tiles, s, keep, pass > 0)
		}
		if err != nil {
			return metric.Result{}, err
		}
		if !run.Next() {
			return run.Result(), nil
		}
	}
}

// sweep is a pass by one worker.
func (p *pairing) sweep(ctx context.Context, run *metric.Run, tiles int64, s *Worker, keep, filled bool) error {
	t := p.newTiler(s, keep)
	for i := range tiles {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.reduce(run, i, &s.partial, keep && filled); err != nil {
			return err
		}
		run.Fold(&s.partial)
	}
	return nil
}

// split is a pass whose chunks are shared among idle workers.
func (p *pairing) split(ctx context.Context, run *metric.Run, tiles int64, s *Worker) error {
	q := &chunkQueue{
		run:    run,
		tiles:  tiles,
		chunks: (tiles + chunkTiles - 1) / chunkTiles,
		done:   make([][]metric.Partial, 4*s.crew.size),
	}
	q.cond.L = &q.mu
	var helpers sync.WaitGroup
	// Workers that run out of operators can join before any chunk.
	invite := func() {
		s.crew.invite(&helpers, func(s *Worker) { q.work(ctx, p.newTiler(s, false), nil) })
	}
	q.work(ctx, p.newTiler(s, false), invite)
	helpers.Wait()
	return q.err
}

// chunkQueue hands out the chunks of a pass and folds their partial sums in
// order. At most len(done) chunks are ahead of the fold, which bounds the
// memory they hold.
type chunkQueue struct {
	mu     sync.Mutex
	cond   sync.Cond
	run    *metric.Run
	tiles  int64
	chunks int64
	next   int64 // the next chunk to hand out
	folded int64 // chunks folded so far
	done   [][]metric.Partial
	free   [][]metric.Partial
	err    error
}

// work takes chunks until there are none left. invite, if any, is called before
// each.
func (q *chunkQueue) work(ctx context.Context, t *tiler, invite func()) {
	for {
		if invite != nil {
			invite()
		}
		c, ok := q.take()
		if !ok {
			return
		}
		q.put(c, q.compute(ctx, t, c))
	}
}

func (q *chunkQueue) take() (int64, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && q.next < q.chunks && q.next-q.folded >= int64(len(q.done)) {
		q.cond.Wait()
	}
	if q.err != nil || q.next >= q.chunks {
		return 0, false
	}
	q.next++
	return q.next - 1, true
}

type chunkResult struct {
	partials []metric.Partial
	err      error
}

func (q *chunkQueue) compute(ctx context.Context, t *tiler, chunk int64) chunkResult {
	q.mu.Lock()
	var partials []metric.Partial
	if n := len(q.free); n > 0 {
		partials, q.free = q.free[n-1], q.free[:n-1]
	}
	q.mu.Unlock()
	first := chunk * chunkTiles
	n := min(chunkTiles, q.tiles-first)
	partials = grow(partials, n)
	for i := range partials {
		if err := ctx.Err(); err != nil {
			return chunkResult{err: err}
		}
		if err := t.reduce(q.run, first+int64(i), &partials[i], false); err != nil {
			return chunkResult{err: err}
		}
	}
	return chunkResult{partials: partials}
}

func (q *chunkQueue) put(chunk int64, r chunkResult) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.cond.Broadcast()
	if r.err != nil {
		if q.err == nil {
			q.err = r.err
		}
		return
	}
	q.done[chunk%int64(len(q.done))] = r.partials
	for q.err == nil && q.folded < q.next {
		slot := &q.done[q.folded%int64(len(q.done))]
		if *slot == nil {
			break
		}
		for i := range *slot {
			q.run.Fold(&(*slot)[i])
		}
		q.free = append(q.free, *slot)
		*slot = nil
		q.folded++
	}
}

// tiler reads, widens and reduces tiles for one goroutine.
type tiler struct {
	p     *pairing
	s     *Worker
	keep  bool // the buffers hold the whole tensor, not one tile
	left  Elements
	right Elements
}

func (p *pairing) newTiler(s *Worker, keep bool) *tiler {
	t := &tiler{p: p, s: s, keep: keep, left: s.open(0, p.left), right: s.open(1, p.right)}
	room := p.numbers()
	if !keep {
		room = min(room, metric.TileLen)
	}
	if p.wide {
		s.x64, s.y64 = grow(s.x64, room), grow(s.y64, room)
		if p.whole(p.left) {
			s.xs = grow(s.xs, room)
		}
		if p.whole(p.right) {
			s.ys = grow(s.ys, room)
		}
	} else {
		s.x32, s.y32 = grow(s.x32, room), grow(s.y32, room)
	}
	return t
}

// reduce computes the partial sums of tile i. filled: the buffers hold the
// widened tile already.
func (t *tiler) reduce(run *metric.Run, i int64, into *metric.Partial, filled bool) error {
	lo := i * metric.TileLen
	hi := min(lo+metric.TileLen, t.p.numbers())
	at := int64(0)
	if t.keep {
		at = lo
	}
	end := at + hi - lo
	if t.p.wide {
		x, y := t.s.x64[at:end], t.s.y64[at:end]
		var xs, ys integer.List
		if t.p.whole(t.p.left) {
			xs = integer.List{Bits: t.s.xs[at:end], Signed: t.p.left.typ.Signed()}
		}
		if t.p.whole(t.p.right) {
			ys = integer.List{Bits: t.s.ys[at:end], Signed: t.p.right.typ.Signed()}
		}
		if !filled {
			if err := t.fill64(x, y, xs.Bits, ys.Bits, lo); err != nil {
				return err
			}
			if t.p.out != nil {
				leaveOut(t.p.out, x, y)
			}
		}
		run.ReduceWide(into, x, y, xs, ys)
		return nil
	}
	x, y := t.s.x32[at:end], t.s.y32[at:end]
	if !filled {
		if err := t.fill32(x, y, lo); err != nil {
			return err
		}
		if t.p.out != nil {
			leaveOut(t.p.out, x, y)
		}
	}
	run.Reduce32(into, x, y)
	return nil
}

// load reads the bytes of numbers [first, first+n) of a side; parts is how
// many numbers an element gives.
func (t *tiler) load(o *operand, from Elements, first, n, parts int64) ([]byte, error) {
	elems := n / parts
	t.s.raw = grow(t.s.raw, o.typ.Bytes(elems))
	if err := from.ReadTile(t.s.raw, first/parts, elems); err != nil {
		return nil, err
	}
	if o.big {
		o.swap(t.s.raw)
	}
	return t.s.raw, nil
}

// fill32 reads numbers from first on of both sides. The error is a [*sideError].
func (t *tiler) fill32(x, y []float32, first int64) error {
	return t.both(func(o *operand, from Elements, right bool) error {
		dst := x
		if right {
			dst = y
		}
		if le := float32Bytes(o, dst); le != nil {
			return from.ReadTile(le, first, int64(len(dst)))
		}
		return fill(t, o, from, dst, first, dtype.Widen32)
	})
}

// fill64 is fill32 in float64, and gives the elements as integers, too, where there is room for them.
func (t *tiler) fill64(x, y []float64, xs, ys []uint64, first int64) error {
	return t.both(func(o *operand, from Elements, right bool) error {
		dst, whole := x, xs
		if right {
			dst, whole = y, ys
		}
		err := fill(t, o, from, dst, first, dtype.Widen64)
		if err == nil && whole != nil {
			dtype.Whole(o.typ, whole, t.s.raw)
		}
		return err
	})
}

// both reads one side after the other.
func (t *tiler) both(read func(o *operand, from Elements, right bool) error) error {
	err, right := read(t.p.left, t.left, false), false
	if err == nil {
		err, right = read(t.p.right, t.right, true), true
	}
	if err != nil {
		return &sideError{right, err}
	}
	return nil
}

// fill widens numbers of a side; of complex elements that are one number each, the real parts.
func fill[T float32 | float64](t *tiler, o *operand, from Elements, dst []T, first int64, widen func(dtype.Type, []T, []byte) int) error {
	if o.typ.Parts() == 2 && t.p.parts == 1 {
		t.s.complex = grow(t.s.complex, 2*int64(len(dst)))
		err := t.fillReal(o, from, t.s.complex, first)
		for i := range dst {
			dst[i] = T(t.s.complex[2*i])
		}
		return err
	}
	raw, err := t.load(o, from, first, int64(len(dst)), t.p.parts)
	if err == nil {
		widen(o.typ, dst, raw)
	}
	return err
}

// fillReal widens complex elements [first, first+len(dst)/2) as pairs, for
// callers that want the real parts only.
func (t *tiler) fillReal(o *operand, from Elements, dst []float64, first int64) error {
	raw, err := t.load(o, from, first, int64(len(dst)/2), 1)
	if err != nil {
		return err
	}
	dtype.Widen64(o.typ, dst, raw)
	return nil
}

// sideError tells which side a tile could not be read from.
type sideError struct {
	right bool
	err   error
}

// sideOf is the name of the side that an error is about.
func sideOf(err error, left, right string) string {
	if side, ok := errors.AsType[*sideError](err); ok && side.right {
		return right
	}
	return left
}

func (e *sideError) Error() string { return e.err.Error() }
func (e *sideError) Unwrap() error { return e.err }

// outcome computes the pair, and again where elements are to be left out.
func (p *pairing) outcome(ctx context.Context, s *Worker) (o outcome, err error) {
	o.values, err = p.compute(ctx, s)
	if err == nil {
		o.lost, err = p.imaginaryLeftOut(ctx, s)
	}
	if err == nil {
		o.saturated, err = p.secondLook(ctx, &o.values, s)
	}
	return o, err
}

// secondLook computes the pair without the elements that saturated, if there
// are any.
func (p *pairing) secondLook(ctx context.Context, first *metric.Result, s *Worker) (*result.Saturated, error) {
	out := saturationOf(p.left.typ, &first.Facts)
	if out == nil {
		return nil, nil
	}
	again := *p
	again.out = out
	values, err := again.compute(ctx, s)
	if err != nil || out.count.Load() == 0 {
		return nil, err
	}
	values.Notes = nil // they are about all elements or none
	return &result.Saturated{Count: out.count.Load(), Result: values}, nil
}

// imaginaryLeftOut tells whether one side has imaginary parts that are not 0 and that
// no metric has seen, as the other side is real: then the metrics are of the real
// parts alone, and a good similarity proves nothing. It returns the reason to give,
// with the operator for its argument, and "" where nothing was left out.
func (p *pairing) imaginaryLeftOut(ctx context.Context, s *Worker) (result.Kind, error) {
	side, o, kind := 0, p.left, result.LeftRealPartOnly
	switch left, right := p.left.typ.Parts() == 2, p.right.typ.Parts() == 2; {
	case left == right:
		return "", nil
	case right:
		side, o, kind = 1, p.right, result.RealPartOnly
	}
	from := s.open(side, o)
	t := &tiler{p: p, s: s}
	for at := int64(0); at < p.count; at += metric.TileLen {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		s.complex = grow(s.complex, 2*min(metric.TileLen, p.count-at))
		if err := t.fillReal(o, from, s.complex, at); err != nil {
			return "", &sideError{right: side == 1, err: err}
		}
		for i := 1; i < len(s.complex); i += 2 {
			if s.complex[i] != 0 { // NaN is not 0
				return kind, nil
			}
		}
	}
	return "", nil
}
