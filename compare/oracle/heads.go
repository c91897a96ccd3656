package oracle

import (
	"math"
	"slices"
	"sort"
	"strings"

	"precision/dump/dtype"
)

// Attention of fused kernels, over all layouts: which row of a tensor is the query, key or value of a head at a place
// (documentation of npu_fusion_attention, npu_fused_infer_attention_score, npu_prompt_flash_attention and
// npu_incre_flash_attention in op-plugin).

// headed is a tensor of heads with the axes of a layout: its rows are what one head has at one place.
type headed struct {
	v                      Values // (…, width)
	batches, heads, length int64
	packed                 bool // sequences stand behind each other, and length is that of all
	row                    func(b, h, i int64) int64
}

// headsOf reads a layout of so many heads: BSH, SBH, BSND, BNSD, and TND or NTD, where tokens of all sequences stand behind
// each other.
func headsOf(v Values, layout string, heads int64) headed {
	s := v.Shape()
	axes := strings.Replace(layout, "H", "ND", 1)
	refuseIf(len(s) != len(layout), ShapesDiffer, s)
	if axes != layout {
		refuseIf(heads < 1 || s[2]%heads != 0, ShapesDiffer, s)
		s = []int64{s[0], s[1], heads, s[2] / heads}
		v = reshape(v, s)
	}
	steps := rowMajor(s[:len(s)-1])
	axis := func(name string) (n, step int64) {
		if i := strings.Index(axes, name); i >= 0 {
			return s[i], steps[i]
		}
		return 1, 0
	}
	h := headed{v: v, packed: strings.Contains(axes, "T")}
	var batch, head, place int64
	h.batches, batch = axis("B")
	h.heads, head = axis("N")
	if h.length, place = axis("S"); h.packed {
		h.length, place = axis("T")
	}
	h.row = func(b, n, i int64) int64 { return b*batch + n*head + i*place }
	return h
}

// pagesOf reads a cache of pages (blocks, size, H), (blocks, N, size, D) or (blocks, size, N, D), or in tiles
// (blocks, N, D/16, size, 16), as so many tokens of each sequence as lengths says lie in it by the table.
func (k *invocation) pagesOf(o, table *operand, heads, size int64, lengths []int64) headed {
	var v Values = o
	s := o.shape
	refuseIf(len(table.shape) != 2 || table.shape[0] < int64(len(lengths)) || len(s) < 3, ShapesDiffer, s, table.shape)
	tokens := func(heads int64, layout string) headed { return headsOf(v, layout, heads) }
	var h headed
	switch {
	case len(s) == 3:
		h = tokens(heads, "BSH")
	case len(s) == 5:
		v = transpose(v, []int{0, 1, 3, 2, 4})
		v = reshape(v, []int64{s[0], s[1], s[3], s[2] * s[4]})
		h = tokens(heads, "BNSD")
	case len(s) == 4 && s[1] == heads && (size == 0 || s[2] == size) && !(s[2] == heads && s[1] != s[2]):
		refuseIf(s[2] == heads && s[1] == s[2] && heads > 1, Unsupported, "a cache of as many heads as places in a page")
		h = tokens(heads, "BNSD")
	default:
		h = tokens(heads, "BSND")
	}
	refuseIf(h.heads != heads || size != 0 && size != h.length, ShapesDiffer, s, []int64{heads, size})
	size = h.length
	refuseIf(size == 0, ShapesDiffer, s)
	// Only the pages that are looked at are read.
	entries, width := must(numbers(table)), table.shape[1]
	at, pages := map[int64]int64{}, [][]int64{}
	var used []int64
	for b, n := range lengths {
		need := (n + size - 1) / size
		refuseIf(n < 0 || need > width, BadArgument, k.shown("actual_seq_lengths_kv"), n, "at most "+itoa(int(width*size)))
		var list []int64
		for j := range need {
			p := int64(entries[int64(b)*width+j])
			if p < 0 || p >= s[0] {
				panic(refuse(OutsideCache, k.shown("block_table"), p, s[0]))
			}
			if _, ok := at[p]; !ok {
				at[p] = int64(len(used))
				used = append(used, p)
			}
			list = append(list, at[p])
		}
		pages = append(pages, list)
	}
	per := count(h.v.Shape()) / max(s[0], 1)
	refuseIf(per*int64(len(used)) > maxDense, TooLarge, per*int64(len(used)), maxDense)
	shape := slices.Clone(h.v.Shape())
	shape[0] = int64(len(used))
	d := &dense{shape: shape, y: make([]float64, per*int64(len(used))), exact: true}
	for i, p := range used {
		check(h.v.Range(p*per, d.y[int64(i)*per:][:per], nil))
	}
	row := h.row
	h.v, h.batches, h.row = d, int64(len(lengths)), func(b, n, i int64) int64 { return row(pages[b][i/size], n, i%size) }
	return h
}

// lengthsOf are the lengths of sequences; nil where they are not given. Those of packed ones may be given as where each ends.
func (k *invocation) lengthsOf(name string, ends bool) []int64 {
	list := slices.Clone(k.ints(name))
	for i := len(list) - 1; i > 0 && ends; i-- {
		list[i] -= list[i-1]
	}
	refuseIf(slices.ContainsFunc(list, func(n int64) bool { return n < 0 }), BadArgument, k.shown(name), k.ints(name), "lengths")
	return list
}

// only refuses another value of an argument than the one that is computed with.
func (k *invocation) only(value float64, names ...string) {
	for _, name := range names {
		refuseIf(k.float(name, value) != value, Unsupported, k.shown(name))
	}
}

// sequences are the queries, keys and values of an attention: whose tokens they are, and where each stands.
type sequences struct {
	q, k, v        headed
	starts, queues []int64 // of packed queries, and how many queries each sequence has
	from, keys     []int64 // of packed keys, and how many each sequence has
	lengths        []int64 // of the queries that are computed
	out            headed  // the layout of the result, without its elements
}

// sequencesOf reads the operands of a kernel in its layout, IN or IN_OUT.
func (k *invocation) sequencesOf(layout string, heads, few int64) sequences {
	query, key := k.factors("query", "key")
	value := k.factored("value")
	k.required("query", "key", "value")
	in, out, _ := strings.Cut(layout, "_")
	if !slices.Contains([]string{"BSH", "SBH", "BSND", "BNSD", "TND", "NTD"}, in) {
		panic(refuse(Unsupported, "input_layout "+layout))
	}
	s := sequences{q: headsOf(query, in, heads)}
	refuseIf(s.q.heads != heads, ShapesDiffer, query.shape, []int64{heads})
	table := k.optional("block_table")
	s.lengths, s.keys = k.lengthsOf("actual_seq_lengths", s.q.packed), k.lengthsOf("actual_seq_lengths_kv", s.q.packed && table == nil)
	if s.q.packed && table != nil && s.lengths == nil { // decoding: each token is a sequence
		s.lengths = ones(int(s.q.length))
	}
	refuseIf(s.q.packed && s.lengths == nil, NoArgument, k.shown("actual_seq_lengths"))
	if s.q.packed {
		s.q.batches = int64(len(s.lengths))
	}
	whole := func(list []int64, all int64) []int64 {
		switch {
		case list == nil:
			return repeated(int(s.q.batches), all)
		case len(list) == 1 && s.q.batches > 1:
			return repeated(int(s.q.batches), list[0])
		}
		refuseIf(int64(len(list)) < s.q.batches, ShapesDiffer, list, []int64{s.q.batches})
		return list[:s.q.batches]
	}
	s.lengths = whole(s.lengths, s.q.length)
	width := s.q.v.Shape()[len(s.q.v.Shape())-1]
	read := func(o *operand) headed {
		if table != nil {
			k.required("actual_seq_lengths_kv")
			return k.pagesOf(o, table, few, k.int("block_size", 0), whole(s.keys, 0))
		}
		n := few
		if n == 0 {
			if n = heads; strings.HasSuffix(in, "H") && len(o.shape) == 3 && width > 0 {
				n = key.shape[2] / width
			}
		}
		return headsOf(o, in, n)
	}
	s.k, s.v = read(key), read(value)
	if k.has("query_rope") || k.has("key_rope") {
		more := func(h *headed, rope headed) {
			a, b := h.v.Shape(), rope.v.Shape()
			refuseIf(len(a) != len(b) || !slices.Equal(a[:len(a)-1], b[:len(b)-1]), ShapesDiffer, a, b)
			h.v = newConcat([]Values{h.v, rope.v}, len(a)-1)
		}
		more(&s.q, headsOf(k.tensor("query_rope"), in, heads))
		more(&s.k, read(k.tensor("key_rope")))
	}
	refuseIf(s.k.batches != s.v.batches || s.k.heads != s.v.heads || s.k.length != s.v.length || s.k.heads == 0 || heads%s.k.heads != 0 ||
		!s.q.packed && s.k.batches != s.q.batches, ShapesDiffer, query.shape, key.shape, value.shape)
	most := s.k.length
	if table != nil {
		most = math.MaxInt64
	}
	refuseIf(s.k.packed && s.keys == nil, NoArgument, k.shown("actual_seq_lengths_kv"))
	s.keys = whole(s.keys, most)
	s.queues = s.lengths
	if !s.q.packed {
		s.queues = repeated(int(s.q.batches), s.q.length)
	}
	s.starts, s.from = make([]int64, s.q.batches), make([]int64, s.q.batches)
	total := func(list, starts []int64, packed bool, most int64, name string) {
		n := int64(0)
		for b := range s.q.batches {
			if packed {
				starts[b] = n
				n += list[b]
			} else {
				n = list[b]
			}
			refuseIf(n > most, BadArgument, k.shown(name), n, "at most "+itoa(int(most)))
		}
	}
	total(s.lengths, s.starts, s.q.packed, s.q.length, "actual_seq_lengths")
	total(s.keys, s.from, s.k.packed, most, "actual_seq_lengths_kv")
	s.out = s.resultIn(out, in)
	return s
}

// resultIn is the layout of the result, which has the heads of the queries and the width of the values.
func (s *sequences) resultIn(out, in string) headed {
	if out == "" {
		out = in
	}
	width := s.v.v.Shape()[len(s.v.v.Shape())-1]
	size := map[rune]int64{'B': s.q.batches, 'N': s.q.heads, 'S': s.q.length, 'T': s.q.length, 'D': width, 'H': s.q.heads * width}
	var shape []int64
	for _, a := range out {
		n, ok := size[a]
		refuseIf(!ok, Unsupported, "input_layout "+in+"_"+out)
		shape = append(shape, n)
	}
	refuseIf(strings.Contains(out, "T") != s.q.packed, Unsupported, "input_layout "+in+"_"+out)
	h := headsOf(&dense{shape: shape}, out, s.q.heads)
	h.v = &dense{shape: shape}
	return h
}

// rowOf is the row of a head at a place; of packed sequences place counts the tokens of all.
func (s *sequences) rowOf(b, h, i int64) attended {
	if s.q.packed {
		b = int64(sort.Search(len(s.starts), func(n int) bool { return s.starts[n] > i })) - 1
		if b < 0 || i >= s.starts[b]+s.lengths[b] {
			return attended{head: h, row: i, q: -1}
		}
		i -= s.starts[b]
	}
	a := attended{batch: b, head: h, row: i, l: s.lengths[b], s: s.keys[b], q: s.q.row(b, h, i)}
	if s.q.packed {
		a.q = s.q.row(0, h, s.starts[b]+i)
	} else if i >= s.lengths[b] {
		a.q = -1 // is never written
	}
	return a
}

// kernelAttention is attention over the layouts of headsOf, with so many heads of q and few of keys and values, or with few 0
// as many of these as their shapes say, if heads lie in one axis, else as of q; of atten_mask
// what is not 0 is left out. Without a mask sparse_mode 0 does not look at the tokens before and after.
func (k *invocation) kernelAttention(layout string, heads, few int64, before, after string) (t *attention, s sequences) {
	s = k.sequencesOf(layout, heads, few)
	t = k.blankAttention()
	t.shape = s.out.v.Shape()
	t.most = slices.Max(append(slices.Clone(s.keys), 0))
	t.hold(s.q.v, s.k.v, s.v.v)
	t.scale, t.zero = exactNum(1), true
	t.scaledBy(k, "scale")
	// places of the result's rows, by their number
	places := s.placesOf(s.out)
	t.at = func(r int64) attended { return s.rowOf(places(r)) }
	per := heads / s.k.heads
	t.key = func(a attended, c int64) int64 {
		if s.k.packed {
			return s.k.row(0, a.head/per, s.from[a.batch]+c)
		}
		return s.k.row(a.batch, a.head/per, c)
	}
	if sink := k.optional("sink"); sink != nil {
		refuseIf(count(sink.shape) != heads, ShapesDiffer, sink.shape, []int64{heads})
		t.sink = must(held(sink))
	}
	k.hide(t, s, before, after)
	return t, s
}

// placesOf gives the sequence, head and place of a row of a layout.
func (s *sequences) placesOf(h headed) func(r int64) (b, n, i int64) {
	batches := h.batches
	if h.packed {
		batches = 1
	}
	type place struct{ step, size, axis int64 }
	var axes []place
	for axis, size := range []int64{batches, h.heads, h.length} {
		if size > 1 {
			at := [3]int64{}
			at[axis] = 1
			axes = append(axes, place{h.row(at[0], at[1], at[2]), size, int64(axis)})
		}
	}
	return func(r int64) (b, n, i int64) {
		var at [3]int64
		for _, a := range axes {
			at[a.axis] = r / a.step % a.size
		}
		return at[0], at[1], at[2]
	}
}

// hide takes the mask and the modes that hide by themselves: 2 what comes behind a row counted from the first key on, 3 from
// the last one, 4 what lies beyond a band around the latter.
func (k *invocation) hide(t *attention, s sequences, before, after string) {
	const far = math.MaxInt32
	mode, mask := k.int("sparse_mode", 0), k.optional("atten_mask")
	pre, next := k.int(before, far), k.int(after, far)
	behind := func(a attended, c int64) bool { return c > a.row+next || c < a.row-pre }
	switch {
	case mode < 0 || mode > 4:
		panic(refuse(Unsupported, "sparse_mode "+itoa(int(mode))))
	case mode >= 2:
		if mask != nil { // a triangle, which the kernels move over the scores
			n := len(mask.shape)
			refuseIf(n < 2 || count(mask.shape) == 0, ShapesDiffer, mask.shape)
			var corner [2]float64
			w := mask.shape[n-1]
			check(mask.At([]int64{0, min(1, w-1)}, corner[:], nil))
			refuseIf(corner[0] != 0 || w > 1 && corner[1] == 0, Unsupported, "a mask of sparse_mode "+itoa(int(mode))+" that is no upper triangle")
		}
		switch mode {
		case 2:
			t.hidden = func(a attended, c int64) bool { return c > a.row }
		case 3:
			t.hidden = func(a attended, c int64) bool { return c > a.row+a.s-a.l }
		case 4:
			t.hidden = func(a attended, c int64) bool { return c > a.row+a.s-a.l+next || c < a.row+a.s-a.l-pre }
		}
	case mask != nil:
		at, d := maskPlaces(mask, s, t.most), must(held(mask))
		t.hidden = func(a attended, c int64) bool { return d.y[at(a, c)] != 0 }
		if mode == 0 && (pre < s.q.length || next < t.most) { // the mask has to say so, too
			t.doubtful = func(a attended, c int64) bool { return behind(a, c) && !t.hidden(a, c) }
		}
	}
}

// maskPlaces finds the elements of a mask (S, Skv), (B or 1, S, Skv), (B or 1, N or 1, S, Skv), or of one query (B, Skv).
func maskPlaces(mask *operand, s sequences, most int64) func(a attended, c int64) int64 {
	shape := slices.Clone(mask.shape)
	if n := len(shape); n == 2 && s.q.length == 1 && shape[0] == s.q.batches && s.q.batches > 1 {
		shape = []int64{shape[0], 1, 1, shape[1]}
	} else if n == 3 {
		shape = []int64{shape[0], 1, shape[1], shape[2]}
	}
	for len(shape) < 4 {
		shape = append([]int64{1}, shape...)
	}
	rows := slices.Max(append(slices.Clone(s.queues), 0))
	refuseIf(len(shape) > 4 || shape[0] != 1 && shape[0] < s.q.batches || shape[1] != 1 && shape[1] != s.q.heads ||
		shape[2] != 1 && shape[2] < rows || shape[2] == 1 && rows > 1 || shape[3] < most, ShapesDiffer, mask.shape)
	steps := rowMajor(shape)
	for i, n := range shape {
		if n == 1 {
			steps[i] = 0
		}
	}
	return func(a attended, c int64) int64 {
		return a.batch*steps[0] + a.head*steps[1] + a.row*steps[2] + c*steps[3]
	}
}

// biased takes what is added to the scores of all (B or 1, N, S, Skv) places.
func (k *invocation) biased(name string, s sequences, most int64) func(a attended, c int64) float64 {
	o := k.optional(name)
	if o == nil {
		return nil
	}
	refuseIf(len(o.shape) != 4 || s.q.packed, Unsupported, k.shown(name)+" "+shapeText(o.shape))
	at, d := maskPlaces(o, s, most), must(held(o))
	return func(a attended, c int64) float64 { return d.y[at(a, c)] }
}

// fusionAttention is npu_fusion_attention (torch_npu): softmax and scores are float32 and the probabilities are rounded to the
// type of the inputs (ops-transformer attention/flash_attention_score). Its further outputs are the largest score of each row and
// the sum of the exponentials, eight times each; of packed sequences the heads come first in these, if nothing else is said.
func fusionAttention(k *invocation) []Reading {
	refuseIf(k.float("keep_prob", 1) != 1, Random, "keep_prob")
	k.unsupported("padding_mask", "prefix")
	k.required("head_num", "input_layout")
	layout := k.string("input_layout", "")
	t, s := k.kernelAttention(layout, k.int("head_num", 0), 0, "pre_tockens", "next_tockens")
	t.before = k.biased("pse", s, t.most)
	orders := []string{"BNS"}
	if s.q.packed {
		orders = []string{"NT", "TN"}
		if k.string("softmax_layout", "") == "TND" {
			orders = orders[1:]
		}
	}
	var out []Reading
	for _, order := range orders {
		r := Reading{Name: order, Out: []Values{t}}
		for i, of := range []func() num{func() num { return t.largest }, func() num { return t.sum }} {
			r.Out = append(r.Out, t.perRow(k, s, order, i+1, of))
		}
		out = append(out, r)
	}
	return out
}

// perRow is a statistic of every row in an order of axes, as often as the recorded output has it; nil where that has another size.
func (t *attention) perRow(k *invocation, s sequences, order string, output int, of func() num) Values {
	shape, ok := k.out(output)
	h := headed{batches: s.q.batches, heads: s.q.heads, length: s.q.length, packed: s.q.packed}
	rows := h.heads * h.length
	if !h.packed {
		rows *= h.batches
	}
	if !ok || rows == 0 || count(shape) == 0 || count(shape)%rows != 0 {
		return nil
	}
	times := count(shape) / rows
	switch order {
	case "BNS":
		h.row = func(b, n, i int64) int64 { return (b*h.heads+n)*h.length + i }
	case "NT":
		h.row = func(_, n, i int64) int64 { return n*h.length + i }
	case "TN":
		h.row = func(_, n, i int64) int64 { return i*h.heads + n }
	}
	places := s.placesOf(h)
	return t.statistic(shape, func(i int64) attended { return s.rowOf(places(i / times)) }, of)
}

// inferenceAttention is attention without gradients. Scores and softmax are float32 and the probabilities are rounded to the
// type of the keys; with inner_precise 1 scores and softmax may be float16 (ops-transformer attention/prompt_flash_attention).
func inferenceAttention(k *invocation) []Reading {
	k.unsupported("padding_mask")
	k.only(0, "antiquant_mode", "key_antiquant_mode", "value_antiquant_mode", "query_quant_mode", "key_quant_mode", "value_quant_mode")
	heads, few := k.int("num_heads", 1), k.int("num_key_value_heads", 0)
	if few == 0 {
		few = heads
	}
	refuseIf(few < 1, BadArgument, "num_key_value_heads", few, "a positive number")
	layout := "BSH"
	if k.name == "_npu_paged_attention" || k.name == "npu_paged_attention" {
		layout = "TND"
	}
	t, s := k.kernelAttention(k.string("input_layout", layout), heads, few, "pre_tokens", "next_tokens")
	t.added = k.biased("pse_shift", s, t.most)
	readings := t.forms(func(t *attention) []Values {
		out := []Values{t, nil}
		if shape, ok := k.out(1); ok && count(shape) == 1 && !k.bool("softmax_lse_flag", false) {
			out[1] = reshape(scalar(0), shape)
		} else if k.bool("softmax_lse_flag", false) && t.sink == nil {
			order := "BNS"
			if s.q.packed {
				order = "TN"
			}
			out[1] = t.perRow(k, s, order, 1, func() num { return t.log })
		}
		return out
	})
	missing := int64(1) // of npu_incre_flash_attention; npu_prompt_flash_attention does not say it
	if strings.HasPrefix(k.name, "npu_fused_infer") {
		missing = 0
	}
	if k.tensor("query").typ != dtype.Float16 || k.int("inner_precise", missing) != 1 {
		readings = readings[:1] // only float16 is computed with throughout
	}
	return readings
}
