package oracle

import (
	"math"
	"slices"
	"sort"
	"strings"

	"precision/dump/dtype"
)

// Where the tokens of sequences stand: the layouts in which fused kernels take queries, keys and
// values, the caches of keys and values, in pages or not, that are read and written as a sequence
// grows, and what turns a token by its position.
//
// Reading. A layout names the axes of a tensor: B sequences, S places, N heads, D elements of a
// head, H = N·D, and T for the tokens of all sequences behind each other, whose ends are then an
// argument. [headsOf] finds from it how far one head, place or sequence is from the next, in rows
// of D elements; [sequencesOf] does that for all operands of a call, through the table of pages
// where there is one ([invocation.pagesOf]), and says how many tokens each sequence has. What a
// kernel does not look at, tokens behind the end of a sequence, is not looked at here either.
//
// Writing. A cache after a call is the cache before it with rows of new tokens put in places
// ([invocation.patch]). All else stays bit for bit, so that a kernel that writes where it must not
// is found; of two rows for one place either may be left.
//
// Rotary positions (Su et al., RoFormer, 2021) turn pairs of elements of a head by angles that grow
// with the position: [invocation.rotated] with cosines and sines that were given,
// [invocation.rotaryEmbedding] from a table of them.
//
// Sources: the documentation and tests of op-plugin, ops-transformer (attention, posembedding) and
// ops-nn.

// patched is a tensor some elements of which have others in their place.
type patched struct {
	in       Values
	src      Values
	to, from []int64 // places in order, and the elements of src that go there; -1 for one that may be any of several
	exact    bool
}

func (p *patched) Shape() []int64 { return p.in.Shape() }
func (p *patched) Exact() bool    { return p.exact }

// Places that lie in lo … lo+len(y) are found by bisection; the rest stays as it was before the
// call.
func (p *patched) Range(lo int64, y, b []float64) {
	p.in.Range(lo, y, b)
	for i := sort.Search(len(p.to), func(i int) bool { return p.to[i] >= lo }); i < len(p.to) && p.to[i] < lo+int64(len(y)); i++ {
		at := p.to[i] - lo
		if p.from[i] < 0 {
			if y[at] = 0; b != nil {
				b[at] = math.Inf(1)
			}
			continue
		}
		var bound []float64
		if b != nil {
			bound = b[at : at+1]
		}
		p.src.Range(p.from[i], y[at:at+1], bound)
	}
}

func (p *patched) At(idx []int64, y, b []float64) { oneByOne(p, idx, y, b) }

// patch puts the rows of src, of so many elements, in places of a tensor: place gives that of an
// element of a row. rows are where they go: those below 0 go nowhere, and which of several for the
// same place is left there is not said. most is how many rows the tensor has, width the elements of
// one. What is computed is rounded to the tensor's type. A row of most or more is refused as the
// finding "points outside": the kernel has written, or tried to write, behind its tensor.
func (k *invocation) patch(in *operand, src Values, name string, rows []int64, most, width int64, place func(row, e int64) int64) Values {
	refuseIf(count(src.Shape()) < int64(len(rows))*width || most*width > count(in.shape), ShapesDiffer, in.shape, src.Shape())
	refuseIf(int64(len(rows))*width > maxDense, TooLarge, int64(len(rows))*width, maxDense)
	p := &patched{in: in, exact: true}
	if p.src = src; !isExact(src) {
		p.src = &rounded{src, precisionFor(in.numeric())}
	}
	type move struct{ to, from int64 }
	var list []move
	for i, r := range rows {
		if r < 0 {
			continue
		}
		refuseIf(r >= most, OutsideCache, k.shown(name), r, most)
		for e := range width {
			list = append(list, move{place(r, e), int64(i)*width + e})
		}
	}
	slices.SortStableFunc(list, func(a, b move) int { return int(a.to - b.to) })
	for i, m := range list {
		if i > 0 && list[i-1].to == m.to {
			p.from[len(p.from)-1] = -1
			continue
		}
		p.to, p.from = append(p.to, m.to), append(p.from, m.from)
	}
	return p
}

// rowsOfCache tells how the rows of so many elements lie in a cache: one behind the other (blocks,
// size, …), or in tiles (blocks, width/16, size, 16), which int8 has of 32. The tiles are those of
// FRACTAL_NZ in a page: a row's elements come in pieces of 32 bytes, and the pieces of all rows of
// a page stand side by side: element e of row r is at page·size·width + (e/tile)·size·tile + (r mod
// size)·tile + e mod tile.
func rowsOfCache(cache *operand, width int64, tiles bool, size int64) (most int64, place func(row, e int64) int64) {
	s := cache.shape
	n := count(s)
	refuseIf(len(s) < 3 || width == 0 || n%width != 0, ShapesDiffer, s, []int64{width})
	if !tiles {
		return n / width, func(row, e int64) int64 { return row*width + e }
	}
	tile := int64(16)
	if cache.typ == dtype.Int8 {
		tile = 32
	}
	refuseIf(width%tile != 0 || size == 0, ShapesDiffer, s, []int64{width})
	return n / width, func(row, e int64) int64 {
		return row/size*size*width + e/tile*size*tile + row%size*tile + e%tile
	}
}

func cacheForms() {
	// Keys and values (T, heads, size) of T tokens go to the slots of slot_mapping, slot =
	// page·size + place in it, −1 for none (torch_npu._npu_reshape_and_cache). The layout follows
	// from the shape of the cache.
	define("scatter_cache", function{mends: []string{"key_cache", "value_cache"}, forward: func(k *invocation) []Reading {
		k.unsupported("compress_lens", "compress_seq_offsets", "seq_lens")
		slots := k.ints("slot_mapping")
		k.required("slot_mapping")
		var out []Values
		for _, name := range []string{"key", "value"} {
			if !k.has(name) {
				out = append(out, nil)
				continue
			}
			x, cache := k.pair(name, name+"_cache")
			refuseIf(len(x.shape) < 2 || x.shape[0] < int64(len(slots)), ShapesDiffer, x.shape, []int64{int64(len(slots))})
			width, n := count(x.shape[1:]), len(cache.shape)
			tiles := n >= 4 && !slices.Equal(cache.shape[2:], x.shape[1:]) && (cache.shape[n-1] == 16 || cache.shape[n-1] == 32)
			refuseIf(n < 3 || !tiles && count(cache.shape[2:]) != width, ShapesDiffer, x.shape, cache.shape)
			most, place := rowsOfCache(cache, width, tiles, cache.shape[n-2])
			out = append(out, k.patch(cache, x, "slot_mapping", slots, most, width, place))
		}
		return outputs(out...)
	}})
	define("scattered_cache", function{forward: forms["scatter_cache"].forward}) // which returns it
	// npu_gather_pa_kv_cache: pages of a cache become the tokens of sequences behind each other,
	// which the call writes to key and value.
	define("gather_cache", function{mends: []string{"key", "value"}, forward: gatherCache})
	// indices (…, d) name slices of the first d axes; a negative entry is no place, and that row is
	// not written.
	define("npu_scatter_nd_update", function{forward: formulaFor(func(k *invocation) Values {
		x, idx := k.pair("input", "indices")
		updates := k.tensor("updates")
		n := len(idx.shape)
		refuseIf(n == 0 || idx.shape[n-1] == 0 || int(idx.shape[n-1]) > len(x.shape), ShapesDiffer, x.shape, idx.shape)
		deep := idx.shape[n-1]
		at, steps := ints(idx), rowMajor(x.shape[:deep])
		rows := make([]int64, count(idx.shape)/deep)
		for i := range rows {
			for j := range deep {
				p := at[int64(i)*deep+j]
				refuseIf(p >= x.shape[j], OutsideCache, "indices", p, x.shape[j])
				if rows[i] += p * steps[j]; p < 0 {
					rows[i] = math.MinInt32
				}
			}
		}
		width := count(x.shape[deep:])
		refuseIf(count(updates.shape) != int64(len(rows))*width, ShapesDiffer, updates.shape, idx.shape, x.shape)
		return k.patch(x, updates, "indices", rows, count(x.shape[:deep]), width, func(row, e int64) int64 { return row*width + e })
	})})
	// torch_npu.scatter_update(input, indices, updates, axis): updates (B, …) go to place
	// indices[b] of the axis, for each b.
	define("scatter_update", function{forward: formulaFor(func(k *invocation) Values {
		return k.scatteredFrom(k.tensor("updates"))
	})})
	// round(x/scale + zero) to int8, rint, then placed as scatter_update does.
	define("npu_quant_scatter", function{forward: formulaFor(func(k *invocation) Values {
		refuseIf(k.string("reduce", "update") != "update" || k.outType() != dtype.Int8 || k.string("round_mode", "rint") != "rint", Unsupported, "reduce, dst_type, round_mode")
		src := k.tensor("updates")
		zero := k.alongAxis(src, k.optional("quant_zero_points"), "quant_axis", -1)
		return k.scatteredFrom(k.inSteps(dtype.Int8, src, k.alongAxis(src, k.tensor("quant_scales"), "quant_axis", -1), zero))
	})})
	// Results are both caches and, if is_output_kv, what was written to them, before it was
	// quantised.
	define("npu_kv_rmsnorm_rope_cache", function{forward: ropeCache})
	// The second version writes the caches in place and returns the two other results first.
	define("rope_cache_v2", function{mends: []string{"k_cache", "ckv_cache"}, forward: func(k *invocation) []Reading {
		r := ropeCache(k)
		out := r[0].Out
		return outputs(out[2], out[3], out[0], out[1])
	}})
	define("qkv_rope_cache", function{mends: []string{"q_out", "k_cache", "v_cache"}, forward: func(k *invocation) []Reading {
		return outputs(qkvRopeCache(k)...)
	}})
	define("npu_rope_quant_kvcache", function{forward: quantisedCache})
	// npu_scatter_list gives new tensors, npu_scatter_list_ writes to the list that it is given.
	define("npu_scatter_list", function{forward: scatteredList})
	define("npu_scatter_list_", function{mends: []string{"input"}, forward: scatteredList})
	define("npu_advance_step_flashattn", function{mends: []string{"input_tokens", "input_positions", "seq_lens", "slot_mapping"}, forward: advancedStep})
	// Neighbours are turned, and come to stand in halves.
	define("npu_interleave_rope", function{forward: formulaFor(func(k *invocation) Values {
		return k.rotated(k.inHalves(k.tensor("x")), k.tensor("cos"), k.tensor("sin"), false)
	})})
	// Queries and keys by one table of cosines and sines; rotary_mode says which elements are a
	// pair.
	define("npu_apply_rotary_pos_emb", function{forward: func(k *invocation) []Reading {
		cos, sin := k.pair("cos", "sin")
		return outputs(k.rotated(k.tensor("query"), cos, sin, k.interleaved()), k.rotated(k.tensor("key"), cos, sin, k.interleaved()))
	}})
	// x·r1 + rotated(x)·r2, where halves or neighbours change places.
	define("npu_rotary_mul", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("input")
		r1, r2 := k.pair("r1", "r2")
		return k.rotated(x, r1, r2, k.interleaved())
	}), nodes: [][]string{{"input", "r1", "r2"}}, backward: func(k *invocation, g []Values) gradients {
		x, d := k.tensor("input"), gradient(g, 0)
		r1, r2 := k.pair("r1", "r2")
		refuseIf(!slices.Equal(x.shape, d.Shape()), ShapesDiffer, x.shape, d.Shape())
		return gradients{
			"input": func() Values {
				there := k.halves(k.computed("g,r)=g*r", d, r2))
				return k.computed("x,y)=x-y", k.halves(k.computed("g,r)=g*r", d, r1)), turnedPairs(there, k.interleaved()))
			},
			"r1": func() Values { return k.reducedTo(k.halves(k.computed("g,x)=g*x", d, x)), "r1") },
			"r2": func() Values {
				return k.reducedTo(k.halves(k.computed("g,x)=g*x", d, turnedPairs(x, k.interleaved()))), "r2")
			},
		}
	}})
	// vLLM's rotary embedding, in place: is_neox_style pairs halves, else neighbours.
	define("rotary_embedding", function{mends: []string{"query", "key"}, forward: func(k *invocation) []Reading { return k.rotaryEmbedding(k.bool("is_neox_style", true), nil) }})
	// Positions in three (time, height, width), for models that see: a part of the frequencies
	// each.
	define("npu_mrope", function{forward: func(k *invocation) []Reading {
		return k.rotaryEmbedding(!k.interleaved(), k.ints("mrope_section"))
	}})
}

// scatteredFrom puts the updates of each batch into the tensor of it, from the index of the batch
// on along an axis (example of torch_npu.scatter_update).
func (k *invocation) scatteredFrom(src Values) Values {
	x, idx := k.pair("input", "indices")
	axis := k.axis("axis", -2, len(x.shape))
	refuseIf(len(idx.shape) != 1, ShapesDiffer, x.shape, idx.shape)
	return k.putAlong(x, x.shape, src, axis, ints(idx))
}

// putAlong puts src into a tensor of a shape, each of its batches from its own place on along an
// axis.
func (k *invocation) putAlong(x *operand, shape []int64, src Values, axis int, at []int64) Values {
	s := src.Shape()
	refuseIf(axis == 0 || len(s) != len(shape) || int64(len(at)) != s[0] || s[0] > shape[0], ShapesDiffer, shape, s)
	to, from := rowMajor(shape), rowMajor(s)
	for d := range s {
		refuseIf(d > 0 && d != axis && s[d] != shape[d], ShapesDiffer, shape, s)
	}
	for _, p := range at {
		refuseIf(p < 0 || p > shape[axis]-s[axis], OutsideCache, k.shown("indices"), p, shape[axis]-s[axis]+1)
	}
	return k.patch(x, src, "indices", inOrder(s[0]), s[0], count(s[1:]), func(row, e int64) int64 {
		place := row*to[0] + at[row]*to[axis]
		for d := 1; d < len(s); d++ {
			place += e / from[d] % s[d] * to[d]
		}
		return place
	})
}

// gatherCache: the tokens of all sequences, one behind the other, from their pages; what no page
// holds is 0.
func gatherCache(k *invocation) []Reading {
	table, lengths := k.tensor("block_tables"), k.ints("seq_lens")
	k.required("seq_lens")
	if k.bool("is_seq_lens_cumsum", false) {
		for i := range len(lengths) - 1 {
			lengths[i] = lengths[i+1] - lengths[i]
		}
		lengths = lengths[:max(len(lengths)-1, 0)]
	}
	refuseIf(len(table.shape) != 2 || table.shape[0] < int64(len(lengths)), ShapesDiffer, table.shape, []int64{int64(len(lengths))})
	entries, skip := numbers(table), k.ints("seq_offset")
	refuseIf(skip != nil && len(skip) < len(lengths), ShapesDiffer, skip, lengths)
	refuseIf(slices.ContainsFunc(skip, func(n int64) bool { return n < 0 }), BadArgument, k.shown("seq_offset"), skip, "no number below 0")
	var out []Values
	for _, name := range []string{"key", "value"} {
		into, cache := k.pair(name, name+"_cache")
		refuseIf(len(into.shape) < 2 || len(cache.shape) < 3, ShapesDiffer, into.shape, cache.shape)
		width, n := count(into.shape[1:]), len(cache.shape)
		tiles := !slices.Equal(cache.shape[2:], into.shape[1:])
		refuseIf(tiles && (n < 4 || cache.shape[n-1] != 16 && cache.shape[n-1] != 32), ShapesDiffer, into.shape, cache.shape)
		size := cache.shape[1]
		if tiles {
			size = cache.shape[n-2]
		}
		refuseIf(size == 0, ShapesDiffer, into.shape, cache.shape)
		most, place := rowsOfCache(cache, width, tiles, size)
		d := held(cache)
		var from []int64
		for b, n := range lengths {
			refuseIf(n < 0 || n > into.shape[0]-int64(len(from)), ShapesDiffer, lengths, into.shape)
			start := int64(0)
			if skip != nil {
				start = skip[b] / size
			}
			for j := range n {
				p, row := start+j/size, int64(-1)
				if p < table.shape[1] {
					// A page outside of the table, or below 0, gives a row of zeros.
					if page := int64(entries[int64(b)*table.shape[1]+p]); page >= 0 && page < most/size {
						row = page*size + j%size
					}
				}
				from = append(from, row)
			}
		}
		out = append(out, &formula{shape: into.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
			switch t := i / width; {
			case t >= int64(len(from)):
				return 0, math.Inf(1) // not written
			case from[t] < 0:
				return 0, 0
			default:
				return d.y[place(from[t], i%width)], 0
			}
		}})
	}
	return outputs(out...)
}

// ropeCache is npu_kv_rmsnorm_rope_cache: the first part of kv, of the size of the weight, is
// normalised by its root mean square and goes into one cache; the rest, whose neighbours come to
// stand in halves first, is turned and goes into the other. All in float32, one rounding
// (ops-transformer posembedding/kv_rms_norm_rope_cache; the caches are written as op-plugin's test
// does).
func ropeCache(k *invocation) []Reading {
	k.unsupported("v", "k_rope_offset", "c_kv_offset")
	kv, w := k.pair("kv", "weight")
	refuseIf(len(kv.shape) != 4 || kv.shape[1] != 1 || len(w.shape) != 1 || w.shape[0] >= kv.shape[3], ShapesDiffer, kv.shape, w.shape)
	n, rest := w.shape[0], kv.shape[3]-w.shape[0]
	refuseIf(rest%2 != 0, ShapesDiffer, kv.shape)
	head := append(slices.Clone(kv.shape[:3]), n)
	// c = x/√(mean(x²) + eps)·w over the first n elements of a token
	c := reshape(k.rootRows(slab1(kv, 3, 0, n), w, 1e-5), head)
	r := k.rotated(k.inHalves(slab1(kv, 3, n, rest)), k.tensor("cos"), k.tensor("sin"), false)
	tokens := kv.shape[0] * kv.shape[2]
	refuseIf(tokens > maxDense, TooLarge, tokens, maxDense)
	mode := k.string("cache_mode", "Norm")
	rows := k.ints("index")
	k.required("index")
	into := func(name, scale string, v Values) Values {
		cache := k.tensor(name)
		width := v.Shape()[3]
		if k.has(scale) {
			refuseIf(cache.typ != dtype.Int8, Unsupported, scale)
			s := k.tensor(scale)
			v = k.times(v, reshape(s, lastOf(s, 4)))
			v = k.clippedTo(dtype.Int8, math.RoundToEven, v)
		} else {
			refuseIf(discrete(cache.typ), NoArgument, scale)
		}
		refuseIf(len(cache.shape) != 4, ShapesDiffer, cache.shape)
		size := cache.shape[1]
		most, place := rowsOfCache(cache, width, mode == "PA_NZ" || mode == "PA_BLK_NZ", size)
		at := rows
		switch mode {
		case "Norm": // (B, 1, length, width), and places in the sequence
			at = slices.Clone(rows)
			for i := range at {
				if length := cache.shape[2]; at[i] >= 0 {
					refuseIf(at[i] >= length, OutsideCache, "index", at[i], length)
					at[i] += int64(i) / kv.shape[2] * length
				}
			}
		case "PA", "PA_BNSD", "PA_NZ": // rows of the cache, as they are
		case "PA_BLK_BNSD", "PA_BLK_NZ": // the first place of each page
			at = nil
			per := int64(len(rows)) / max(kv.shape[0], 1)
			for b := range kv.shape[0] {
				for i := range kv.shape[2] {
					refuseIf(size == 0 || i/size >= per, ShapesDiffer, kv.shape, []int64{int64(len(rows))})
					if p := rows[b*per+i/size]; p < 0 {
						at = append(at, -1)
					} else {
						at = append(at, p/size*size+i%size)
					}
				}
			}
		default:
			panic(refusal(Unsupported, "cache_mode "+mode))
		}
		refuseIf(int64(len(at)) != tokens, ShapesDiffer, kv.shape, []int64{int64(len(at))})
		return k.patch(cache, v, "index", at, most, width, place)
	}
	out := []Values{into("k_cache", "k_rope_scale", r), into("ckv_cache", "c_kv_scale", c), nil, nil}
	if k.bool("is_output_kv", false) {
		out[2], out[3] = r, c
	}
	return outputs(out...)
}

// qkvRopeCache: of queries, keys and values side by side the first two are normalised by their root
// mean squares and turned; queries are a result, keys and values go into caches, in steps where
// scales are given; and what they were before that (test of op-plugin).
func qkvRopeCache(k *invocation) []Values {
	x, size, heads := k.tensor("qkv"), k.ints("qkv_size"), k.ints("head_nums")
	refuseIf(len(size) != 4 || len(heads) != 3 || len(x.shape) != 2 || x.shape[0] != size[0]*size[1] || x.shape[1] != size[2]*size[3] || heads[0]+heads[1]+heads[2] != size[2], ShapesDiffer, x.shape, size, heads)
	refuseIf(k.string("cache_mode", "PA_NZ") != "PA_NZ", Unsupported, "cache_mode")
	rows, d := k.ints("index"), size[3]
	refuseIf(int64(len(rows)) != x.shape[0], ShapesDiffer, x.shape, []int64{int64(len(rows))})
	cos, sin := k.pair("cos", "sin")
	refuseIf(!slices.Equal(cos.shape, []int64{x.shape[0], d}) || !slices.Equal(sin.shape, cos.shape), ShapesDiffer, cos.shape, sin.shape)
	var out [6]Values
	at := int64(0)
	for i, name := range []string{"q", "k", "v"} {
		n := heads[i]
		v := reshape(slab1(x, 1, at*d, n*d), []int64{x.shape[0], n, d})
		at += n
		if i < 2 {
			w := k.tensor(name + "_gamma")
			refuseIf(count(w.shape) != d, ShapesDiffer, w.shape, size)
			along := func(o *operand) Values { return reshape(o, []int64{x.shape[0], 1, d}) }
			normed := k.rootRows(v, w, 1e-6)
			v = k.computed("x,c,y,s)=x*c+y*s", normed, along(cos), turnedPairs(normed, false), along(sin))
		}
		flat := reshape(v, []int64{x.shape[0], n * d})
		if out[i] = flat; !k.bool("is_output_qkv", false) {
			out[i] = nil
		}
		if i == 0 {
			out[3] = flat
			continue
		}
		cache := k.tensor(name + "_cache")
		if s := k.optional(name + "_scale"); s != nil {
			v = k.also("x,o)=x+o", k.computed("x,s)=x/s", v, sized(s, []int64{n, d})), sized(k.ifGiven(name+"_offset"), []int64{n, d}))
			v = k.clippedTo(cache.typ, math.RoundToEven, v)
		}
		refuseIf(len(cache.shape) != 4 || cache.shape[2] == 0 || cache.shape[3] == 0 || cache.shape[1]*cache.shape[3] != n*d || discrete(cache.typ) && !k.has(name+"_scale"), ShapesDiffer, cache.shape, x.shape)
		page, tile := cache.shape[2], cache.shape[3]
		out[3+i] = k.patch(cache, v, "index", rows, cache.shape[0]*page, n*d, func(row, e int64) int64 {
			return (row/page*cache.shape[1]+e/tile)*page*tile + row%page*tile + e%tile
		})
	}
	return out[:]
}

// quantisedCache: of queries, keys and values side by side the first two are turned, and keys and
// values go into caches in steps, times a scale, from the place of each sequence on, or a page at a
// time; whole numbers are scaled by channel and token before (test of op-plugin).
func quantisedCache(k *invocation) []Reading {
	k.only(0, "quant_mode")
	x, size, paged := k.tensor("x"), k.ints("size_splits"), k.string("cache_mode", "contiguous") == "page"
	cos, sin, cache := k.tensor("cos"), k.tensor("sin"), k.tensor("k_cache")
	r := len(x.shape)
	refuseIf(len(size) != 3 || r != 3 && !(r == 2 && paged) || len(cache.shape) != 4 || k.string("input_layout", "BSND") != "BSND" || size[0]+size[1]+size[2] != x.shape[r-1], ShapesDiffer, x.shape, size, cache.shape)
	tokens, few, d := count(x.shape[:r-1]), cache.shape[2], cache.shape[3]
	refuseIf(d == 0 || size[0]%d != 0 || size[1] != few*d || size[2] != few*d || count(cos.shape) != tokens*d || count(sin.shape) != tokens*d, ShapesDiffer, size, cache.shape, cos.shape)
	var v Values = reshape(x, []int64{tokens, x.shape[r-1]})
	if x.typ == dtype.Int32 {
		k.required("weight_scale", "activation_scale")
		bias := k.optional("bias")
		v = k.scaledProduct(v, k.tensor("weight_scale"), k.tensor("activation_scale"), valuesOf(bias), bias != nil && discrete(bias.typ), nil)
	}
	rows, from := k.ints("indices"), int64(0)
	steps := max(tokens/max(int64(len(rows)), 1), 1)
	refuseIf(int64(len(rows))*steps != tokens || !paged && int64(len(rows)) > cache.shape[0] || paged && steps != 1, ShapesDiffer, x.shape, []int64{int64(len(rows))})
	var at []int64
	for b, p := range rows {
		for i := range steps {
			if at = append(at, p); !paged {
				refuseIf(p < 0 || p+i >= cache.shape[1], OutsideCache, "indices", p+i, cache.shape[1])
				at[len(at)-1] = int64(b)*cache.shape[1] + p + i
			}
		}
	}
	var out [5]Values
	for i, name := range []string{"q", "k", "v"} {
		part := reshape(slab1(v, 1, from, size[i]), []int64{tokens, size[i] / d, d})
		from += size[i]
		if i < 2 {
			shape := []int64{tokens, 1, d}
			part = k.halves(k.computed("x,c,y,s)=x*c+y*s", part, reshape(cos, shape), turnedPairs(part, false), reshape(sin, shape)))
		}
		if shape, ok := k.out(i); ok && (i == 0 || k.bool("kv_output", false)) && count(shape) == count(part.Shape()) {
			out[i] = reshape(part, shape)
		}
		if i == 0 {
			continue
		}
		scale := k.tensor("scale_" + name)
		part = k.computed("x,s)=x*s", part, reshape(scale, append(ones(3-len(scale.shape)), scale.shape...)))
		if o := k.optional("offset_" + name); o != nil {
			part = k.computed("x,o)=x+o", part, reshape(o, append(ones(3-len(o.shape)), o.shape...)))
		}
		into := k.tensor(name + "_cache")
		refuseIf(!slices.Equal(into.shape, cache.shape), ShapesDiffer, into.shape, cache.shape)
		out[2+i] = k.patch(into, k.clippedTo(into.typ, math.RoundToEven, part), "indices", at, count(into.shape[:2]), few*d, func(row, e int64) int64 { return row*few*d + e })
	}
	return outputs(out[:]...)
}

// scatteredList puts the updates of each tensor of a list in its place on an axis, where the mask
// is not 0.
func scatteredList(k *invocation) []Reading {
	list, src, rows := k.tensors("input"), k.tensor("updates"), k.ints("indices")
	refuseIf(k.string("reduce", "update") != "update", Unsupported, "reduce")
	refuseIf(len(rows) != len(list) || len(src.shape) < 3 || src.shape[0] != int64(len(list)), ShapesDiffer, src.shape, []int64{int64(len(list)), int64(len(rows))})
	mask := k.listOf("mask", int64(len(list)))
	var out []Values
	for i, x := range list {
		if mask != nil && mask[i] == 0 {
			out = append(out, x)
			continue
		}
		axis := k.axis("axis", -2, len(x.shape))
		refuseIf(axis == 0, ShapesDiffer, x.shape, src.shape)
		one := append([]int64{1}, x.shape...)
		out = append(out, k.putAlong(x, one, slab1(src, 0, int64(i), 1), axis+1, rows[i:i+1]))
	}
	return outputs(out...)
}

// advancedStep: each sequence goes on by the token that was sampled for it. A slot is counted from
// the first row of the table, as the kernel does (ops-nn optim/advance_step); of what fills up the
// batch the first place alone is surely written.
func advancedStep(k *invocation) []Reading {
	k.unsupported("spec_token", "accepted_num")
	table, size, seqs, queries := k.tensor("block_tables"), k.count("block_size"), k.count("num_seqs"), k.count("num_queries")
	sampled := numbers(k.tensor("sampled_token_ids"))
	var all [4][]float64
	names := []string{"input_tokens", "input_positions", "seq_lens", "slot_mapping"}
	for i, name := range names {
		all[i] = slices.Clone(numbers(k.tensor(name)))
		refuseIf(int64(len(all[i])) < seqs || queries > seqs || size == 0 || int64(len(sampled)) < queries || len(table.shape) != 2, ShapesDiffer, k.tensor(name).shape, []int64{seqs, queries})
	}
	pages := numbers(table)
	off := make([]float64, len(all[0]))
	for q := range queries {
		at := int64(all[2][q])
		refuseIf(at < 0 || at/size >= int64(len(pages)), OutsideCache, "seq_lens", at, int64(len(pages))*size)
		all[0][q], all[1][q], all[2][q] = sampled[q], float64(at), float64(at+1)
		all[3][q] = (pages[at/size]+float64(table.shape[1]*q))*float64(size) + float64(at%size)
	}
	for q := queries; q < seqs; q++ {
		all[0][q], all[1][q], all[3][q] = 0, 0, -1
		if q > queries {
			off[q] = math.Inf(1)
		}
	}
	var out []Values
	for i, name := range names {
		d := &dense{shape: k.tensor(name).shape, y: all[i], exact: true}
		if d.b = slices.Clone(off[:min(len(off), len(d.y))]); i == 2 || len(d.b) < len(d.y) {
			d.b = make([]float64, len(d.y))
		}
		out = append(out, d)
	}
	return outputs(out...)
}

// rotaryEmbedding turns the first elements of each head of queries and keys by cosines and sines
// from a table, a row of which has those of a position. With sections a position has three numbers,
// which serve a part of the frequencies each. float32, one rounding. A row of the table is (cos₀ …
// cos_h, sin₀ … sin_h), h = turn/2. With halves element e pairs with e ± h, else with its
// neighbour: y = x·cos ∓ partner·sin (documentation of npu_mrope; vLLM's rotary embedding).
// Elements behind turn are returned as they are. For float16 the kernel rounds both products, which
// adds a unit of each.
func (k *invocation) rotaryEmbedding(halves bool, sections []int64) []Reading {
	positions, table := k.pair("positions", "cos_sin_cache")
	size := k.int("head_size", 0)
	pos, list := numbers(positions), numbers(table)
	refuseIf(len(table.shape) < 2, ShapesDiffer, table.shape)
	turn := table.shape[len(table.shape)-1]
	half := turn / 2
	refuseIf(size < 1 || turn%2 != 0 || turn == 0 || turn > size, BadArgument, "head_size", size, "at least "+itoa(int(turn)))
	tokens := positions.shape[len(positions.shape)-1:]
	three := len(positions.shape) == 2
	refuseIf(len(tokens) == 0 || three && (positions.shape[0] != 3 || len(sections) != 3) || len(positions.shape) > 2, ShapesDiffer, positions.shape)
	which := make([]int64, half)
	if mode := k.string("cache_mode", "default"); three {
		for j := range which {
			switch mode {
			case "default":
				if which[j] = 2; int64(j) < sections[0] {
					which[j] = 0
				} else if int64(j) < sections[0]+sections[1] {
					which[j] = 1
				}
			case "interleave":
				// In turn time, height and width, as long as there are such; the rest is time.
				if which[j] = int64(j % 3); int64(j) >= sections[1]*3 {
					which[j] = 0
				}
			default:
				panic(refusal(BadArgument, "cache_mode", mode, "default or interleave"))
			}
		}
		refuseIf(sections[0]+sections[1]+sections[2] != half, ShapesDiffer, sections, table.shape)
	}
	a := k.arith()
	var out []Values
	for _, name := range []string{"query", "key"} {
		x := k.tensor(name)
		wide := count(x.shape) / max(tokens[0], 1)
		refuseIf(tokens[0] == 0 || count(x.shape)%tokens[0] != 0 || wide%size != 0, ShapesDiffer, x.shape, positions.shape)
		d := held(x)
		p := precisionFor(x.numeric())
		out = append(out, &formula{shape: x.shape, f: func(i int64, _ []int64) (float64, float64) {
			e := i % wide % size
			if e >= turn {
				return d.y[i], 0
			}
			j, other, sign := e%half, i+half, -1.0
			if !halves {
				if j, other = e/2, i+1; e%2 == 1 {
					other, sign = i-1, 1
				}
			} else if e >= half {
				other, sign = i-half, 1
			}
			at := pos[which[j]*tokens[0]+i/wide]
			if at < 0 || at >= float64(table.shape[0]) || at != math.Trunc(at) {
				return 0, math.Inf(1)
			}
			row := list[int64(at)*turn:][:turn]
			first, second := a.mul(exactNum(d.y[i]), exactNum(row[j])), a.mul(exactNum(d.y[other]), exactNum(sign*row[half+j]))
			if x.typ == dtype.Float16 { // products and sum in it
				first.b += p.v*abs(first.y) + p.t
				second.b += p.v*abs(second.y) + p.t
			}
			y := a.add(first, second)
			return y.y, y.b
		}})
	}
	refuseIf(slices.ContainsFunc(pos, func(x float64) bool { return x >= float64(table.shape[0]) }), OutsideCache, "positions", slices.Max(pos), table.shape[0])
	return outputs(out...)
}

// headed is a tensor of heads with the axes of a layout: its rows are what one head has at one
// place.
type headed struct {
	v                      Values // (…, width)
	batches, heads, length int64
	packed                 bool // sequences stand behind each other, and length is that of all
	row                    func(b, h, i int64) int64
	step                   int64 // in rows, from one head to the next
}

// headsOf reads a layout of so many heads: BSH, SBH, BSND, BNSD, and TND or NTD, where tokens of
// all sequences stand behind each other.
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
	// How long an axis is and what a step on it is in rows; 1 and 0 where the layout has none.
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
	h.step, h.row = head, func(b, n, i int64) int64 { return b*batch + n*head + i*place }
	return h
}

// pagesOf reads a cache of pages (blocks, size, H), (blocks, N, size, D) or (blocks, size, N, D),
// or in tiles (blocks, N, D/16, size, 16), as so many tokens of each sequence as lengths says lie
// in it by the table.
func (k *invocation) pagesOf(v Values, table *operand, heads, size int64, lengths []int64) (h headed) {
	s := v.Shape()
	refuseIf(len(table.shape) != 2 || table.shape[0] < int64(len(lengths)) || len(s) < 3, ShapesDiffer, s, table.shape)
	tokens := func(heads int64, layout string) headed { return headsOf(v, layout, heads) }
	switch {
	// (blocks, size, heads·D)
	case len(s) == 3:
		h = tokens(heads, "BSH")
	// tiles of FRACTAL_NZ, made rows again
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
	entries, width := numbers(table), table.shape[1]
	at, pages := map[int64]int64{}, [][]int64{}
	var used []int64
	for b, n := range lengths {
		need := (n + size - 1) / size
		refuseIf(n < 0 || need > width, BadArgument, k.shown("actual_seq_lengths_kv"), n, "at most "+itoa(int(width*size)))
		var list []int64
		for j := range need {
			p := int64(entries[int64(b)*width+j])
			if p < 0 || p >= s[0] {
				panic(refusal(OutsideCache, k.shown("block_table"), p, s[0]))
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
	d := zeros(shape...)
	for i, p := range used {
		h.v.Range(p*per, d.y[int64(i)*per:][:per], nil)
	}
	row := h.row
	h.v, h.batches, h.row = d, int64(len(lengths)), func(b, n, i int64) int64 { return row(pages[b][i/size], n, i%size) }
	return h
}

// lengthsOf are the lengths of sequences; nil where they are not given. Those of packed ones may be
// given as where each ends.
func (k *invocation) lengthsOf(name string, ends bool) []int64 {
	list := slices.Clone(k.ints(name))
	for i := len(list) - 1; i > 0 && ends; i-- {
		list[i] -= list[i-1]
	}
	refuseIf(slices.ContainsFunc(list, func(n int64) bool { return n < 0 }), BadArgument, k.shown(name), k.ints(name), "lengths")
	return list
}

// sequences are the queries, keys and values of an attention: whose tokens they are, and where each
// stands.
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
		panic(refusal(Unsupported, "input_layout "+layout))
	}
	s := sequences{q: headsOf(query, in, heads)}
	refuseIf(s.q.heads != heads, ShapesDiffer, query.shape, []int64{heads})
	table := k.optional("block_table")
	ends := s.q.packed && !k.has("block_sparse_mask") // which goes with the lengths themselves (tests of op-plugin)
	s.lengths, s.keys = k.lengthsOf("actual_seq_lengths", ends), k.lengthsOf("actual_seq_lengths_kv", ends && table == nil)
	// npu_fused_infer_attention_score with TND
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
		var v Values = o
		if k.name == "npu_kv_quant_sparse_flash_attention" {
			v = k.tiles(o, o == key)
		}
		if table != nil {
			k.required("actual_seq_lengths_kv")
			return k.pagesOf(v, table, few, k.int("block_size", 0), whole(s.keys, 0))
		}
		n := few
		if n == 0 {
			if n = heads; strings.HasSuffix(in, "H") && len(o.shape) == 3 && width > 0 {
				n = key.shape[2] / width
			}
		}
		return headsOf(v, in, n)
	}
	s.k, s.v = read(key), read(value)
	s.k.v, s.v.v = k.antiquantised(s.k, "key"), k.antiquantised(s.v, "value")
	// Latent attention gives the rotated part of queries and keys apart: the score is the sum of
	// both products, that of rows that stand behind each other.
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

// antiquantised are keys or values times their scales, (x + offset)·scale, by the mode of a number:
// of all or each channel of each head (0), each token (1), each head (2), each head's token (3);
// scales in pages are of no other mode (documentation of npu_fused_infer_attention_score).
func (k *invocation) antiquantised(h headed, name string) Values {
	scale := k.optional(name + "_antiquant_scale")
	if scale == nil {
		return h.v
	}
	shape := h.v.Shape()
	rank := len(shape)
	mode := k.int(name+"_antiquant_mode", k.int(name+"_quant_mode", 0))
	refuseIf(mode != 0 && (k.has("block_table") || mode < 0 || mode > 3), Unsupported, name+"_antiquant_mode "+itoa(int(mode)))
	along := func(o *operand) Values {
		at := ones(rank)
		first, heads := 2, 1 // the axes of tokens and heads: (B, N, S, D), or (B, S, N, D) and (B, S, N·D)
		if h.step == 1 {
			first, heads = 1, 2
		}
		switch n := count(o.shape); {
		case n == 1 && mode == 0:
		case mode == 1 && rank > 2 && n == shape[0]*shape[first]:
			at[0], at[first] = shape[0], shape[first]
		case mode == 2 && rank == 4 && n == h.heads:
			at[heads] = n
		case mode == 3 && rank == 4 && h.step != 1 && n == shape[0]*h.heads*shape[2]:
			at[0], at[1], at[2] = shape[0], h.heads, shape[2]
		case mode != 0:
			panic(refusal(ShapesDiffer, shapeText(shape, o.shape)))
		case n == h.heads*shape[rank-1] && h.step == 1: // heads before the last axis
			at[rank-2], at[rank-1] = h.heads, shape[rank-1]
		case n == h.heads*shape[rank-1] && rank == 4:
			at[1], at[3] = h.heads, shape[3]
		default:
			panic(refusal(ShapesDiffer, shapeText(shape, o.shape)))
		}
		return reshape(held(o), at)
	}
	if o := k.optional(name + "_antiquant_offset"); o != nil {
		return k.computed("x,s,o)=(x+o)*s", h.v, along(scale), along(o))
	}
	return k.computed("x,s)=x*s", h.v, along(scale))
}

// tiles are the numbers of a cache of bytes: whole numbers in tiles of a row, what is turned of it,
// and the scales of the tiles, float32; of keys both parts, of values the first one (documentation
// of npu_kv_quant_sparse_flash_attention).
func (k *invocation) tiles(o *operand, key bool) Values {
	rope, tile, typ := k.int("rope_head_dim", 64), k.int("tile_size", 128), k.tensor("query").numeric()
	refuseIf(o.typ != dtype.Int8 || typ != dtype.BFloat16 && typ != dtype.Float16 || len(o.shape) == 0, BadType, o.name, o.typ.String())
	rank := len(o.shape) - 1
	wide := o.shape[rank]
	refuseIf(tile < 4 || rope < 0 || (wide-2*rope)%(tile+4) != 0 || wide <= 2*rope, ShapesDiffer, o.shape, []int64{rope, tile})
	n, p, keep := (wide-2*rope)/(tile+4)*tile, precisionFor(typ), k.int("rounded", 0) != 0
	shape := append(slices.Clone(o.shape[:rank]), n)
	if key {
		shape[rank] += rope
	}
	row, at, bytes, one := make([]float64, wide), int64(-1), make([]byte, wide), [1]float64{}
	return &formula{shape: shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
		if r := i / shape[rank]; r != at {
			o.Range(r*wide, row, nil)
			for j, x := range row {
				bytes[j] = byte(int8(x))
			}
			at = r
		}
		if i %= shape[rank]; i >= n {
			dtype.Widen64(typ, one[:], bytes[2*i-n:][:2])
			return one[0], 0
		}
		dtype.Widen64(dtype.Float32, one[:], bytes[n+2*rope+4*(i/tile):][:4])
		y := row[i] * one[0]
		if keep {
			y = p.Round(y)
		}
		return y, 0
	}}
}

// resultIn is the layout of the result, which has the heads of the queries and the width of the
// values. A layout like BNSD_BSND names that of the inputs, then that of the result.
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

// placesOf gives the sequence, head and place of a row of a layout.
// Only axes longer than 1 tell anything; the number of a row is divided by their steps.
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

// statistics is where those of a row are in an order of axes.
func (s *sequences) statistics(order string) headed {
	h := headed{batches: s.q.batches, heads: s.q.heads, length: s.q.length, packed: s.q.packed}
	switch {
	case order == "BNS":
		h.row = func(b, n, i int64) int64 { return (b*h.heads+n)*h.length + i }
	case order == "NT":
		h.batches, h.row = 1, func(_, n, i int64) int64 { return n*h.length + i }
	default:
		h.batches, h.row = 1, func(_, n, i int64) int64 { return i*h.heads + n }
	}
	return h
}

// interleaved tells whether neighbours are rotated, not halves: rotary_mode is a word, or 0 or 1
// (MindSpeed's docs/ops/npu_rotary_position_embedding.md).
func (k *invocation) interleaved() bool {
	if k.args["rotary_mode"].isText() || !k.has("rotary_mode") {
		mode := k.string("rotary_mode", "half")
		refuseIf(mode != "half" && mode != "interleave", BadArgument, "rotary_mode", mode, "half or interleave")
		return mode == "interleave"
	}
	mode := k.int("rotary_mode", 0)
	refuseIf(mode != 0 && mode != 1, BadArgument, k.shown("rotary_mode"), mode, "0 or 1")
	return mode == 1
}

// halves allows for what is rounded to float16 on the way, in which kernels compute what is
// float16; on a CPU that may be bfloat16, too.
func (k *invocation) halves(v Values) Values {
	if k.outType() == dtype.BFloat16 && k.narrow == 0 {
		return v
	}
	return k.between(v)
}

// rotated is x·cos + turned(x)·sin over the last axis (rotary position embedding): where the halves
// change places, or with interleaved the neighbours of each pair, the new first gets the other
// sign. Products and sum may be rounded to the type of the result (in float16 kernels compute in
// that). Sources: op-plugin's documentation of npu_rotary_mul, npu_interleave_rope and
// npu_apply_rotary_pos_emb; ops-transformer posembedding. The first of a pair becomes x₁·cos −
// x₂·sin, the second x₂·cos + x₁·sin. cos and sin are repeated to the shape of x, whose axes they
// must not change.
func (k *invocation) rotated(x Values, cos, sin *operand, interleaved bool) Values {
	s := x.Shape()
	rank := len(s)
	refuseIf(rank == 0 || s[rank-1]%2 != 0 || rank >= maxRank, ShapesDiffer, s)
	p, q := newPointwise(mulKernel(k.unit()), x, cos), newPointwise(mulKernel(k.unit()), turnedPairs(x, interleaved), sin)
	refuseIf(!slices.Equal(p.shape, s) || !slices.Equal(q.shape, s), ShapesDiffer, s, cos.shape)
	return k.plus(k.halves(p), k.halves(q))
}

// inHalves puts the first numbers of the pairs of a row before the second ones.
// (x₀, x₁, x₂, x₃, …) becomes (x₀, x₂, …, x₁, x₃, …).
func (k *invocation) inHalves(x Values) Values {
	s := x.Shape()
	rank := len(s)
	refuseIf(rank == 0 || s[rank-1]%2 != 0 || rank >= maxRank, ShapesDiffer, s)
	if k.straight {
		return x
	}
	perm := inOrder(rank + 1)
	perm[rank-1], perm[rank] = rank, rank-1
	return reshape(transpose(reshape(x, append(slices.Clone(s[:rank-1]), s[rank-1]/2, 2)), perm), s)
}

// turnedPairs turns each pair of a row by a right angle: (a, b) is (-b, a).
func turnedPairs(x Values, interleaved bool) Values {
	s := x.Shape()
	axis, parts, width := len(s)-1, x, s[len(s)-1]/2
	if interleaved {
		parts, axis, width = reshape(x, append(slices.Clone(s[:axis]), width, 2)), axis+1, 1
	}
	second := elementsOf(exactly(func(x []float64) float64 { return -x[0] }), nil, true, []Values{slab1(parts, axis, width, width)})
	return reshape(joined(axis, second, slab1(parts, axis, 0, width)), s)
}
