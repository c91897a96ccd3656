package stage

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"precision/dump/msprobe"
	"precision/internal/order"
)

// place is a row of a pass; cached is that of a token whose keys and values were in the engine's cache before it was recorded.
type place struct{ pass, row int }

var cached = place{-1, 0}

// sequence is what both sides computed of one text: keys lo to hi of the map.
type sequence struct {
	lo, hi int
	// row is that of the trainer's batch.
	row int
	// differ are the keys whose ids are not equal.
	differ int
	// front tells of tokens that one side alone has ahead of it: above 0 the trainer, below 0 the rollout.
	front int
	// prefix are the keys in front that the engine took from its cache.
	prefix int
}

// tokens maps both sides: by key, the place of a token.
type tokens struct {
	seqs           []sequence
	train, rollout []place
	ids            []int64 // the trainer's
	after          []int64 // the id that follows, -1 at the end of a row
	left           int     // sequences of the rollout that no row of the trainer has: warm-up, padding
	noPlace        bool    // positions of the rollout are not recorded
}

// positions are those of the rows of a pass, nil where nothing tells them.
func (p *pass) positions() []int64 {
	n := len(p.ids)
	whole := func(v *msprobe.Value) []int64 {
		x, err := p.load(v)
		if err != nil {
			return nil
		}
		out := make([]int64, n)
		for i := range out {
			f := x[i%len(x)]
			if f != math.Trunc(f) || math.Abs(f) > 1<<40 {
				return nil
			}
			out[i] = int64(f)
		}
		return out
	}
	fits := func(v *msprobe.Value) bool {
		s := size(v)
		return s == n || s > 0 && p.batch > 0 && s*p.batch == n
	}
	var models []*msprobe.Value
	for _, c := range p.calls {
		for i := range c.Values {
			v := &c.Values[i]
			if v.Kind != msprobe.Tensor || !v.Known || !v.Elem.IsInteger() || !fits(v) {
				continue
			}
			if v.Section == msprobe.Kwargs && (v.Path == "position_ids" || v.Path == "positions") {
				if x := whole(v); x != nil {
					return x
				}
			}
			if v.Section == msprobe.Input && c.Parsed.Form == msprobe.Module && strings.HasSuffix(c.Parsed.API, "rotary_emb") {
				if x := whole(v); x != nil {
					return x
				}
			}
			if v.Section == msprobe.Input && c.Parsed.Form == msprobe.Module && c.Parsed.API == "model" && v.Path != "0" && !strings.Contains(v.Path, ".") {
				models = append(models, v)
			}
		}
	}
	if len(models) > 0 {
		return whole(models[len(models)-1])
	}
	for _, c := range p.calls {
		if c.Parsed.API != "__mul__" {
			continue
		}
		// Angles are positions times frequencies.
		in := tensors(c, msprobe.Input)
		if len(in) == 2 && len(in[1].Shape) == 1 && len(in[0].Shape) > 1 && in[0].Shape[len(in[0].Shape)-1] == 1 && fits(in[0]) {
			return whole(in[0])
		}
	}
	return nil
}

// mask tells which rows of a pass are tokens and no padding, nil where that is not recorded.
func (p *pass) mask() []bool {
	n := len(p.ids)
	s := n / max(p.batch, 1)
	for _, c := range p.calls {
		for i := range c.Values {
			v := &c.Values[i]
			if v.Kind != msprobe.Tensor || !v.Known || len(v.Shape) != 2 || int(v.Shape[0]) != p.batch || int(v.Shape[1]) < s || !(v.Elem.IsInteger() || v.Elem.IsBool()) {
				continue
			}
			named := v.Section == msprobe.Kwargs && v.Path == "attention_mask"
			if !named && !(v.Section == msprobe.Input && c.Parsed.Form == msprobe.Module && c.Parsed.API == "model" && v.Path != "0" && !strings.Contains(v.Path, ".")) {
				continue
			}
			x, err := p.load(v)
			if err != nil || slices.ContainsFunc(x, func(f float64) bool { return f != 0 && f != 1 }) {
				continue
			}
			out, total := make([]bool, n), int(v.Shape[1])
			for r := range p.batch {
				for j := range s {
					out[r*s+j] = x[r*total+total-s+j] == 1
				}
			}
			return out
		}
	}
	return nil
}

// text is a sequence of one side as it grows.
type text struct {
	ids  []int64
	at   []place
	next int64 // position of the next token
	from int64 // position of the first
	row  int   // of the batch, in the last pass
	// like is a row of the trainer that has this text at off.
	like *trainRow
	off  int
	// alone: no row of the trainer begins so.
	alone bool
}

// texts puts the rows of all passes into sequences by their positions.
func (t *tape) texts(known func(x *text, next int64) bool) (list []*text, complete bool) {
	complete = true
	for pi, p := range t.passes {
		n := len(p.ids)
		s := n / max(p.batch, 1)
		pos, mask := p.positions(), p.mask()
		guessed := pos == nil
		if guessed {
			if p.batch != n/max(s, 1) || s <= 1 {
				complete = false
				continue
			}
			pos = make([]int64, n)
			for i := range pos {
				pos[i] = int64(i % s)
			}
		}
		used := map[*text]bool{}
		var now *text
		for i := range n {
			if i%s == 0 {
				now = nil
			}
			if mask != nil && !mask[i] {
				now = nil
				continue
			}
			if guessed && now != nil && !known(now, p.ids[i]) {
				// Another text may begin here: that its ids stop fitting is all there is to tell it by.
				for k := i; k < i/s*s+s; k++ {
					pos[k] = int64(k - i)
				}
				now = nil
			}
			if now != nil && pos[i] == now.next && s > 1 && !known(now, p.ids[i]) {
				// Two steps of two sequences may stand one behind the other: 8 of one, 9 of the other.
				if x := pick(list, used, pos[i], p.ids[i], i/s, known); x != nil && known(x, p.ids[i]) {
					now = nil
				}
			}
			if now == nil || pos[i] != now.next {
				now = nil
				fresh := pos[i] == 0 || mask != nil && i%s > 0 && !mask[i-1] && pi == 0
				if !fresh {
					now = pick(list, used, pos[i], p.ids[i], i/s, known)
				}
				if now == nil {
					now = &text{next: pos[i], from: pos[i], row: i / s}
					list = append(list, now)
				}
				used[now] = true
			}
			now.ids, now.at = append(now.ids, p.ids[i]), append(now.at, place{pi, i})
			now.next, now.row = pos[i]+1, i/s
		}
	}
	return list, complete
}

// pick is the sequence that a token at a position goes on: one as long as that, of those whose text the trainer goes on so, and of these the one in the same row of
// the batch.
func pick(list []*text, used map[*text]bool, pos, id int64, row int, known func(*text, int64) bool) (best *text) {
	score := -1
	for _, t := range list {
		if used[t] || t.next != pos {
			continue
		}
		s := 0
		if known(t, id) {
			s += 2
		}
		if t.row == row {
			s++
		}
		if s > score {
			best, score = t, s
		}
	}
	return best
}

// row of the trainer: the ids of one row of a batch, or of one text in a packed row.
type trainRow struct {
	pass, first int
	ids         []int64
	mask        []bool
	used        []bool
}

// trainRows cuts what the trainer was given into rows. Where positions begin again without padding another text begins: packed.
func (t *tape) trainRows() (rows []*trainRow) {
	for pi, p := range t.passes {
		s := len(p.ids) / max(p.batch, 1)
		mask, pos := p.mask(), p.positions()
		for b := range p.batch {
			begin := b * s
			for end := b*s + 1; end <= b*s+s; end++ {
				again := end < b*s+s && pos != nil && pos[end] == 0 && pos[end-1] > 0 && (mask == nil || mask[end] && mask[end-1])
				if !again && end < b*s+s {
					continue
				}
				r := &trainRow{pass: pi, first: begin, ids: p.ids[begin:end], used: make([]bool, end-begin)}
				if mask != nil {
					r.mask = mask[begin:end]
				}
				rows = append(rows, r)
				begin = end
			}
		}
	}
	return rows
}

// spot is a place in a row of the trainer.
type spot struct {
	row *trainRow
	at  int
}

// gram is so many ids that follow each other, by which texts are looked up; commonest bounds the places that are kept of one: what
// stands more often, as padding does, tells no place.
const (
	gram      = 4
	commonest = 64
	// mostSought bounds the work of looking at every place for a text without such ids in common.
	mostSought = 1 << 28
)

type index struct {
	rows   []*trainRow
	grams  map[[gram]int64][]spot
	tokens int
}

func indexed(rows []*trainRow) *index {
	x := &index{rows: rows, grams: map[[gram]int64][]spot{}}
	for _, r := range rows {
		x.tokens += len(r.ids)
		for o := 0; o+gram <= len(r.ids); o++ {
			g := [gram]int64(r.ids[o:])
			if l := x.grams[g]; len(l) < commonest {
				x.grams[g] = append(l, spot{r, o})
			}
		}
	}
	return x
}

// every calls f for the places where a text may begin, those first that have ids in a row in common with it, and all where f takes none of these
// and more have them than are kept.
func (x *index) every(ids []int64, f func(s spot) (taken bool)) {
	seen := map[spot]bool{}
	taken, more := false, false
	for i := 0; i+gram <= len(ids); i++ {
		places := x.grams[[gram]int64(ids[i:])]
		more = more || len(places) == commonest
		for _, s := range places {
			if s.at -= i; s.at >= 0 && !seen[s] {
				seen[s] = true
				taken = f(s) || taken
			}
		}
	}
	if taken || len(seen) > 0 && !more || len(ids)*x.tokens > mostSought {
		return
	}
	for _, r := range x.rows {
		for o := range r.ids {
			f(spot{r, o})
		}
	}
}

// continues: some row of the trainer has this text and goes on with the id.
func (x *index) continues(t *text, id int64) bool {
	n := len(t.ids)
	if r := t.like; r != nil && t.off+n < len(r.ids) && r.ids[t.off+n] == id {
		return true
	}
	if t.alone {
		return false
	}
	found := false
	try := func(r *trainRow, o int) bool {
		if o+n > len(r.ids) || !slices.Equal(r.ids[o:o+n], t.ids) {
			return false
		}
		found = true
		if o+n == len(r.ids) || r.ids[o+n] != id {
			return false
		}
		t.like, t.off = r, o
		return true
	}
	if n+1 >= gram {
		// The last ids with the next one tell apart rows that begin alike, as those of one prompt or of a chat template do.
		var last [gram]int64
		copy(last[:], t.ids[n+1-gram:])
		last[gram-1] = id
		if places := x.grams[last]; len(places) < commonest { // these are all
			return slices.ContainsFunc(places, func(s spot) bool { o := s.at - (n + 1 - gram); return o >= 0 && try(s.row, o) })
		}
	}
	for _, r := range x.rows {
		for o := range r.ids {
			if try(r, o) {
				return true
			}
		}
	}
	t.alone = !found // and so will be what it grows to
	return false
}

// align maps the tokens of the rollout to those of the trainer.
func align(ctx context.Context, train, rollout *tape) *tokens {
	rows := train.trainRows()
	x := indexed(rows)
	list, complete := rollout.texts(x.continues)
	m := &tokens{noPlace: !complete}
	slices.SortStableFunc(list, func(a, b *text) int { return cmp.Compare(len(b.ids), len(a.ids)) })
	type found struct {
		text   *text
		row    *trainRow
		o, n   int
		differ int
	}
	var all []found
	for _, t := range list {
		if ctx.Err() != nil {
			return m
		}
		best, equal := found{}, 0.0
		x.every(t.ids, func(s spot) bool {
			n := min(len(t.ids), len(s.row.ids)-s.at)
			if n < 1 || 2*n < len(t.ids) || s.row.used[s.at] {
				return false
			}
			same := 0
			for i := range n {
				if same+n-i <= n/2 {
					return false
				}
				if s.row.ids[s.at+i] == t.ids[i] {
					same++
				}
			}
			if e := float64(same) / float64(len(t.ids)); 2*same >= n && e > equal {
				best, equal = found{t, s.row, s.at, n, n - same}, e
			}
			return best.row != nil
		})
		if best.row == nil || best.n < 2 {
			m.left++
			continue
		}
		// Rows that ended go on with padding in some engines.
		for best.row.mask != nil && best.n > 2 && !best.row.mask[best.o+best.n-1] {
			if i := best.n - 1; best.row.ids[best.o+i] != best.text.ids[i] {
				best.differ--
			}
			best.n--
		}
		for i := range best.n {
			best.row.used[best.o+i] = true
		}
		all = append(all, best)
	}
	order.Stable(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.row.pass, b.row.pass), cmp.Compare(a.row.first, b.row.first), cmp.Compare(a.o, b.o))
	})
	for _, f := range all {
		q := sequence{lo: len(m.train), differ: f.differ, row: slices.Index(rows, f.row)}
		if f.row.mask != nil {
			for o := f.o - 1; o >= 0 && f.row.mask[o] && !f.row.used[o]; o-- {
				q.front++
			}
			for o := f.o; o < f.o+f.n && !f.row.mask[o]; o++ {
				q.front--
			}
		}
		// What begins at a later position, with as many of the trainer's tokens ahead of it, has these in a cache.
		if n := int(f.text.from); n > 0 && n <= q.front {
			q.front, q.prefix = q.front-n, n
			ids := f.row.ids[f.o-n : f.o]
			kept := slices.Repeat([]place{cached}, n)
			for _, t := range list {
				if t.from == 0 && len(t.ids) >= n && slices.Equal(t.ids[:n], ids) {
					kept = t.at[:n] // another text computed them
					break
				}
			}
			for i, id := range ids {
				m.train = append(m.train, place{f.row.pass, f.row.first + f.o - n + i})
				m.ids, m.after = append(m.ids, id), append(m.after, f.row.ids[f.o-n+i+1])
			}
			m.rollout = append(m.rollout, kept...)
		}
		for i := range f.n {
			m.train = append(m.train, place{f.row.pass, f.row.first + f.o + i})
			m.rollout = append(m.rollout, f.text.at[i])
			m.ids = append(m.ids, f.row.ids[f.o+i])
			next := int64(-1)
			if f.o+i+1 < len(f.row.ids) {
				next = f.row.ids[f.o+i+1]
			}
			m.after = append(m.after, next)
		}
		q.hi = len(m.train)
		m.seqs = append(m.seqs, q)
	}
	return m
}

// answers finds, for the tokens that log-probs stand for, the key whose logits they were drawn from; -1 where a row is not found.
// ids may be nil: then responses are the ends of sequences.
func (m *tokens) answers(rows, columns int, counts func(i int) bool, ids []int64) []int {
	keys := make([]int, rows*columns)
	for i := range keys {
		keys[i] = -1
	}
	taken := map[int]bool{}
	for r := range rows {
		n := 0
		for c := range columns {
			if counts(r*columns + c) {
				n = c + 1
			}
		}
		if n == 0 {
			continue
		}
		best, at := -1, 0
		for qi, q := range m.seqs {
			length := q.hi - q.lo
			if taken[qi] || length < n {
				continue
			}
			for o := length - n; o >= 0; o-- {
				fits := true
				for c := range n {
					k := q.lo + o + c
					if counts(r*columns+c) && (ids != nil && m.after[k] != ids[r*columns+c] || m.after[k] < 0) {
						fits = false
						break
					}
				}
				if fits && (best < 0 || q.row == r) {
					best, at = qi, o
				}
				if fits || ids == nil {
					break
				}
			}
			if best == qi && q.row == r {
				break
			}
		}
		if best < 0 {
			continue
		}
		taken[best] = true
		for c := range n {
			if counts(r*columns + c) {
				keys[r*columns+c] = m.seqs[best].lo + at + c
			}
		}
	}
	return keys
}

// most keeps whole sequences, those with the largest difference of the log-probs first: as many as have no more tokens than asked for, and one at least. It returns
// how many sequences were dropped.
func (m *tokens) most(q *Request) (dropped int) {
	off := make([]float64, len(m.seqs))
	if q.TrainLog != nil {
		for i, k := range m.answers(q.Rows, q.Columns, q.Counts, q.Answers) {
			if d := math.Abs(q.TrainLog[i] - q.RolloutLog[i]); k >= 0 && d-d == 0 {
				at := slices.IndexFunc(m.seqs, func(s sequence) bool { return k >= s.lo && k < s.hi })
				off[at] += d
			}
		}
	}
	order := make([]int, len(m.seqs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(off[b], off[a]) })
	kept, n := map[int]bool{}, 0
	for _, i := range order {
		if length := m.seqs[i].hi - m.seqs[i].lo; n == 0 || n+length <= q.Tokens {
			kept[i] = true
			n += length
		}
	}
	some := &tokens{left: m.left, noPlace: m.noPlace}
	for i, s := range m.seqs {
		if !kept[i] {
			dropped++
			continue
		}
		lo := len(some.ids)
		some.train = append(some.train, m.train[s.lo:s.hi]...)
		some.rollout = append(some.rollout, m.rollout[s.lo:s.hi]...)
		some.ids = append(some.ids, m.ids[s.lo:s.hi]...)
		some.after = append(some.after, m.after[s.lo:s.hi]...)
		s.lo, s.hi = lo, len(some.ids)
		some.seqs = append(some.seqs, s)
	}
	*m = *some
	return dropped
}
