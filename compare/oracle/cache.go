package oracle

import (
	"math"
	"slices"
	"sort"

	"precision/dump/dtype"
	"precision/internal/must"
)

// Caches of keys and values, in pages or not, and what else is written in places of a tensor.

// patched is a tensor some elements of which have others in their place.
type patched struct {
	in       Values
	src      Values
	to, from []int64 // places in order, and the elements of src that go there; -1 for one that may be any of several
	exact    bool
}

func (p *patched) Shape() []int64 { return p.in.Shape() }
func (p *patched) Exact() bool    { return p.exact }

// Places that lie in lo … lo+len(y) are found by bisection; the rest stays as it was before the call.
func (p *patched) Range(lo int64, y, b []float64) error {
	if err := p.in.Range(lo, y, b); err != nil {
		return err
	}
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
		if err := p.src.Range(p.from[i], y[at:at+1], bound); err != nil {
			return err
		}
	}
	return nil
}

func (p *patched) At(idx []int64, y, b []float64) error { return oneByOne(p, idx, y, b) }

// patch puts the rows of src, of so many elements, in places of a tensor: place gives that of an element of a row. rows are where
// they go: those below 0 go nowhere, and which of several for the same place is left there is not said.
// most is how many rows the tensor has, width the elements of one. What is computed is rounded to the tensor's type.
// A row of most or more is refused as the finding "points outside": the kernel has written, or tried to write, behind
// its tensor.
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

// rowsOfCache tells how the rows of so many elements lie in a cache: one behind the other (blocks, size, …), or in tiles
// (blocks, width/16, size, 16), which int8 has of 32.
// The tiles are those of FRACTAL_NZ in a page: a row's elements come in pieces of 32 bytes, and the pieces of all
// rows of a page stand side by side: element e of row r is at page·size·width + (e/tile)·size·tile + (r mod
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
	// Keys and values (T, heads, size) of T tokens go to the slots of slot_mapping, slot = page·size + place in it,
	// −1 for none (torch_npu._npu_reshape_and_cache). The layout follows from the shape of the cache.
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
		return []Reading{{Out: out}}
	}})
	define("scattered_cache", function{forward: forms["scatter_cache"].forward}) // which returns it
	define("gather_cache", function{mends: []string{"key", "value"}, forward: gatherCache})
	// indices (…, d) name slices of the first d axes; a negative entry is no place, and that row is not written.
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
	define("scatter_update", function{forward: formulaFor(func(k *invocation) Values {
		return k.scatteredFrom(k.tensor("input"), k.tensor("updates"), -2)
	})})
	// round(x/scale + zero) to int8, rint, then placed as scatter_update does.
	define("npu_quant_scatter", function{forward: formulaFor(func(k *invocation) Values {
		refuseIf(k.string("reduce", "update") != "update" || k.outType() != dtype.Int8 || k.string("round_mode", "rint") != "rint", Unsupported, "reduce, dst_type, round_mode")
		src := k.tensor("updates")
		in := []Values{src, k.alongAxis(src, k.tensor("quant_scales"), "quant_axis", -1)}
		if k.has("quant_zero_points") {
			in = append(in, k.alongAxis(src, k.tensor("quant_zero_points"), "quant_axis", -1))
		}
		return k.scatteredFrom(k.tensor("input"), k.inSteps(dtype.Int8, in...), -2)
	})})
	define("npu_kv_rmsnorm_rope_cache", function{forward: ropeCache})
	define("rotary_embedding", function{mends: []string{"query", "key"}, forward: func(k *invocation) []Reading { return k.rotaryEmbedding(k.bool("is_neox_style", true), nil) }})
	define("npu_mrope", function{forward: func(k *invocation) []Reading {
		return k.rotaryEmbedding(!k.interleaved(), k.ints("mrope_section"))
	}})
}

// scatteredFrom puts the updates of each batch into the tensor of it, from the index of the batch on along an axis (example of
// torch_npu.scatter_update).
func (k *invocation) scatteredFrom(x *operand, src Values, missing int64) Values {
	idx, s := k.tensor("indices"), src.Shape()
	axis := k.axis("axis", missing, len(x.shape))
	refuseIf(axis == 0 || len(s) != len(x.shape) || len(idx.shape) != 1 || idx.shape[0] != s[0] || s[0] > x.shape[0], ShapesDiffer, x.shape, s, idx.shape)
	at, to, from, rows := ints(idx), rowMajor(x.shape), rowMajor(s), make([]int64, s[0])
	for d := range s {
		refuseIf(d > 0 && d != axis && s[d] != x.shape[d], ShapesDiffer, x.shape, s)
	}
	for i, p := range at {
		refuseIf(p < 0 || p > x.shape[axis]-s[axis], OutsideCache, k.shown("indices"), p, x.shape[axis]-s[axis]+1)
		rows[i] = int64(i)
	}
	return k.patch(x, src, "indices", rows, s[0], count(s[1:]), func(row, e int64) int64 {
		place := row*to[0] + at[row]*to[axis]
		for d := 1; d < len(s); d++ {
			place += e / from[d] % s[d] * to[d]
		}
		return place
	})
}

// gatherCache: the tokens of all sequences, one behind the other, from their pages; what no page holds is 0.
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
	entries, skip := must.Get(numbers(table)), k.ints("seq_offset")
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
		d := must.Get(held(cache))
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
	return []Reading{{Out: out}}
}

// ropeCache is npu_kv_rmsnorm_rope_cache: the first part of kv, of the size of the weight, is normalised by its root mean square and
// goes into one cache; the rest, whose neighbours come to stand in halves first, is turned and goes into the other. All in float32,
// one rounding (ops-transformer posembedding/kv_rms_norm_rope_cache; the caches are written as op-plugin's test does).
func ropeCache(k *invocation) []Reading {
	k.unsupported("v", "k_rope_offset", "c_kv_offset")
	kv, w := k.pair("kv", "weight")
	refuseIf(len(kv.shape) != 4 || kv.shape[1] != 1 || len(w.shape) != 1 || w.shape[0] >= kv.shape[3], ShapesDiffer, kv.shape, w.shape)
	n, rest := w.shape[0], kv.shape[3]-w.shape[0]
	refuseIf(rest%2 != 0, ShapesDiffer, kv.shape)
	head := append(slices.Clone(kv.shape[:3]), n)
	// c = x/√(mean(x²) + eps)·w over the first n elements of a token
	m := &normal{n: n, rms: true, eps: k.float("epsilon", 1e-5), weight: must.Get(numbers(w)), of: func(_, i int64) int64 { return i }}
	k.fitting(m)
	var c Values = newRows(slab1(kv, 3, 0, n), n, m.forward(k))
	c = reshape(c, head)
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
			v = elementsOf(mulKernel(k.unit()), nil, false, []Values{v, reshape(s, lastOf(s, 4))})
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
	return []Reading{{Out: out}}
}

// rotaryEmbedding turns the first elements of each head of queries and keys by cosines and sines from a table, a row of which has
// those of a position. With sections a position has three numbers, which serve a part of the frequencies each. float32, one rounding.
// A row of the table is (cos₀ … cos_h, sin₀ … sin_h), h = turn/2. With halves element e pairs with e ± h, else with
// its neighbour: y = x·cos ∓ partner·sin (documentation of npu_mrope; vLLM's rotary embedding). Elements behind turn
// are returned as they are. For float16 the kernel rounds both products, which adds a unit of each.
func (k *invocation) rotaryEmbedding(halves bool, sections []int64) []Reading {
	positions, table := k.pair("positions", "cos_sin_cache")
	size := k.int("head_size", 0)
	pos, list := must.Get(numbers(positions)), must.Get(numbers(table))
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
		d := must.Get(held(x))
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
	return []Reading{{Out: out}}
}
