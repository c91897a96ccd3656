package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/dump/dtype"
	catalogue "precision/op"
)

// Mixture of experts: which experts a token goes to, how rows of tokens are put into the order of
// experts and back, and what is computed there, expert by expert.
//
// The vocabulary of all these kernels is the same. Tokens are rows (T, H); a gate gives each token
// k experts and as many weights, (T, k); a row i of T·k is the j-th choice of token t, i = t·k + j,
// or in older kernels i = j·T + t. Permuting sorts rows by their expert, stably, so that of one
// expert tokens stay in their order: nothing is left open, and the result is exact. Coming back
// sums the k rows of a token, times their weights, in any order: g(k + 2)·Σ|w·x|.
//
// Choosing is not exact: two probabilities that differ by less than what they may be off can be
// ranked either way, and then neither the place of an expert nor, with a bias that only takes part
// in choosing, its weight is held against a device ([invocation.gated]).
//
// Rows behind the last expert's are not written by most kernels and may hold anything (a bound of
// +Inf). An index outside of what it points into is told as such (OutsideCache): the device has
// read or written elsewhere.
//
// Sources: documentation and tests of op-plugin, ops-transformer (moe, gmm, ffn), MindSpeed's
// docs/ops.

// routeForms: routing first, then products and activations of experts (gateForms).
func routeForms() {
	// npu_moe_init_routing_v2 and v3.
	define("moe_init_routing", function{forward: initRouting})
	// Rows of experts back to their tokens, weighed and summed.
	define("npu_moe_finalize_routing", function{forward: formulaFor(finalizeRouting)})
	// Of experts in order, how many rows end with each: ends[e] = rows of experts 0 … e.
	define("npu_moe_compute_expert_tokens", function{forward: formulaFor(func(k *invocation) Values {
		x := k.tensor("sorted_expert_for_source_row")
		ends := make([]int64, k.count("num_expert"))
		for _, e := range numbers(x) {
			if i := max(math.Ceil(e), 0); i < float64(len(ends)) {
				ends[int(i)]++
			}
		}
		return wholes(endsOf(ends), []int64{int64(len(ends))})
	})})
	// Behind an all_to_all: tokens came rank by rank.
	define("npu_moe_re_routing", function{forward: reRouting})
	// The last product of the experts and the sum over them in one kernel.
	define("npu_grouped_matmul_finalize_routing", function{forward: formulaFor(combinedProducts)})
	// Rows k·T + t of a token and its k-th choice come in row_idx; they are ordered by expert, and
	// stably. The outputs are the tokens' rows in that order, where each row went, and the experts
	// in order; active_num cuts the first alone.
	define("npu_moe_init_routing", function{forward: func(k *invocation) []Reading {
		x, idx := k.pair("x", "expert_idx")
		rows, experts := ints(k.tensor("row_idx")), ints(idx)
		refuseIf(len(x.shape) != 2 || len(idx.shape) != 2 || idx.shape[0] != x.shape[0] || len(rows) != len(experts), ShapesDiffer, x.shape, idx.shape)
		order, _ := k.byExpert(idx)
		from, to, sorted := make([]int64, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
		for i, p := range order {
			row := rows[p]
			refuseIf(row < 0 || row >= int64(len(rows)), OutsideCache, "row_idx", row, len(rows))
			from[i], to[row], sorted[i] = row%x.shape[0], int64(i), experts[p]
		}
		n := min(k.count("active_num"), x.shape[0]) * idx.shape[1]
		all := []int64{int64(len(rows))}
		return outputs(rowsOf(x, from[:n], 1), wholes(to, all), wholes(sorted, all))
	}})
	// The older kernel with its modes counted otherwise, and an output in between that is not
	// computed.
	define("npu_moe_init_routing_quant", function{forward: func(k *invocation) []Reading {
		how := k.int("expert_tokens_num_mode", 0) // of none, where each ends, of each
		out := initRouting(k.with(map[string]*argument{"expert_tokens_num_flag": numberArgument(toNumber(how > 0)), "expert_tokens_num_type": intArgument(how - 1)}))[0].Out
		return outputs(slices.Insert(out, 3, nil)...)
	}})
	// Routing by a map (tokens, experts) of truths: there, back, and the gradients of both.
	define("npu_moe_token_permute_with_routing_map", function{forward: mappedRouting})
	define("mapped_sums", function{forward: mappedSums})
	define("mapped_sums_gradients", function{forward: mappedSumsGradients})
	define("mapped_gradients", function{forward: mappedGradients})
	// Gradients of weights, accumulated over micro-batches: what stands there and xᵀ·dy of each
	// group.
	define("npu_grouped_matmul_add", function{forward: formulaFor(addedProducts)})
	define("added_products", function{mends: []string{"input"}, forward: formulaFor(addedProducts)})
	// Rows i of indices (T, k) are ordered by expert, stably: permuted[j] = tokens[order[j]/k]. The
	// second output is where row i went. Without padding the first may be cut to num_out_tokens.
	define("npu_moe_token_permute", function{forward: func(k *invocation) []Reading {
		k.unpadded()
		x, idx := k.pair("tokens", "indices")
		order, back := k.byExpert(idx)
		s, per := k.shape(), max(1, int64(len(order))/max(x.shape[0], 1))
		refuseIf(len(s) != 2 || s[0] > int64(len(order)), ShapesDiffer, s)
		return outputs(rowsOf(x, order[:s[0]], per), wholes(back, []int64{int64(len(back))}))
	}, nodes: [][]string{{"tokens"}}, backward: func(k *invocation, g []Values) gradients {
		x, idx := k.pair("tokens", "indices")
		_, back := k.byExpert(idx)
		return gradients{"tokens": func() Values {
			return k.addedRows(gradient(g, 0), wholes(back, []int64{int64(len(back))}).(*dense).y, nil, max(1, int64(len(back))/max(x.shape[0], 1)))
		}}
	}})
	// The gradient of the tokens: the rows that each went to, added up.
	define("npu_moe_token_permute_grad", function{forward: formulaFor(func(k *invocation) Values {
		k.unpadded()
		n := k.int("num_topK", 1)
		if k.has("indices") {
			n = 1
			if s := k.tensor("indices").shape; len(s) > 1 {
				n = s[1]
			}
		}
		return k.addedRows(k.tensor("grad"), numbers(k.tensor("sorted_indices")), nil, n)
	})})
	// out[t] = Σ_j permuted[sorted_indices[t·k + j]]·probs[t, j]
	define("npu_moe_token_unpermute", function{forward: formulaFor(func(k *invocation) Values {
		k.unpadded()
		x, idx := k.pair("permuted_tokens", "sorted_indices")
		return k.unpermuted(x, idx, k.optional("probs"))
	}), nodes: [][]string{{"permuted_tokens", "probs"}}, backward: unpermutedGradients})
	// The third output numbers rows j·T + t of the j-th choice of token t, as moe_init_routing
	// takes them.
	define("npu_moe_gating_top_k_softmax", function{forward: func(k *invocation) []Reading {
		x := k.tensor("x")
		refuseIf(len(x.shape) == 0, ShapesDiffer, x.shape)
		probs := held(k.softmax(x, []int{len(x.shape) - 1}, false))
		y, idx := k.gated(probs, nil, nil)
		k.leaveFinished(idx, x.shape)
		rows := count(idx.shape[:len(idx.shape)-1])
		n := idx.shape[len(idx.shape)-1]
		from := &formula{shape: idx.shape, exact: true, f: func(i int64, _ []int64) (float64, float64) { return float64(i%n*rows + i/n), 0 }}
		return outputs(y, idx, from)
	}})
	// A gate as DeepSeek-V3 (2024) has it: softmax or sigmoids, a bias that only chooses, groups of
	// experts of which the best are open.
	define("npu_moe_gating_top_k", function{forward: gatingTopK})
	// The probabilities of the best experts or, renormalised, the softmax of the best scores.
	define("npu_moe_gating_top_k_softmax_v2", function{forward: func(k *invocation) []Reading {
		x, renorm := k.tensor("x"), k.int("renorm", 0)
		refuseIf(len(x.shape) == 0 || renorm != 0 && renorm != 1, ShapesDiffer, x.shape)
		last := []int{len(x.shape) - 1}
		probs := held(k.softmax(x, last, false))
		if renorm == 0 {
			y, idx := k.gated(probs, nil, nil)
			k.leaveFinished(idx, x.shape)
			out := []Values{y, idx, probs}
			k.leaves(out, 2, "output_softmax")
			return outputs(out...)
		}
		scores := numbers(x)
		y, idx := k.gated(&dense{shape: x.shape, y: scores, b: make([]float64, len(scores))}, nil, nil)
		k.leaveFinished(idx, x.shape)
		return outputs(k.softmax(y, last, false), idx, nil)
	}})
	define("npu_moe_update_expert", function{forward: placedExperts})
}

// mappedSums are the rows of each token added up, weighed by its probabilities where the map has
// them, and these. sorted_indices has the place of each of a token's rows (T·k), restore_shape is
// (T, H). Of the further outputs, which are kept for the backward, the fourth alone is computed.
func mappedSums(k *invocation) []Reading {
	refuseIf(k.bool("drop_and_pad", false), Unsupported, "drop_and_pad")
	x, places := k.tensor("permuted_tokens"), numbers(k.tensor("sorted_indices"))
	tokens := k.ints("restore_shape")
	refuseIf(len(tokens) != 2 || tokens[0] < 1 || int64(len(places))%tokens[0] != 0, ShapesDiffer, tokens, []int64{int64(len(places))})
	weights, _ := k.mapped()
	out := []Values{k.addedRows(x, places, weights, int64(len(places))/tokens[0]), nil, nil, nil}
	if weights != nil {
		out[3] = &dense{shape: []int64{int64(len(weights))}, y: weights, exact: true}
	}
	return outputs(out[:max(1, min(4, len(k.outs)))]...)
}

// mapped are the probabilities that a map has, token by token, and where they are; nil without any.
func (k *invocation) mapped() (weights []float64, at []int) {
	if !k.has("probs") {
		return nil, nil
	}
	probs, routes := numbers(k.tensor("probs")), numbers(k.tensor("routing_map"))
	refuseIf(len(probs) != len(routes), ShapesDiffer, []int64{int64(len(probs))}, []int64{int64(len(routes))})
	for i, has := range routes {
		if has != 0 {
			weights, at = append(weights, probs[i]), append(at, i)
		}
	}
	return weights, at
}

// mappedSumsGradients are those of the rows and of all probabilities. The gradient of a row is its
// token's times the probability; that of a probability is the row times the token's gradient, put
// where routing_map (T, experts) has it and 0 elsewhere.
func mappedSumsGradients(k *invocation) []Reading {
	refuseIf(k.bool("drop_and_pad", false), Unsupported, "drop_and_pad")
	d := k.tensor("grad")
	weights, at := k.mapped()
	args := map[string]*argument{"probs": nil}
	if weights != nil {
		refuseIf(len(d.shape) != 2 || d.shape[0] == 0 || int64(len(weights))%d.shape[0] != 0, ShapesDiffer, d.shape)
		o := inMemory("probs", dtype.Float64, []int64{d.shape[0], int64(len(weights)) / d.shape[0]})
		copy(o.f64, weights)
		args["probs"] = &argument{v: k.args["probs"].v, op: o}
	}
	all := unpermutedGradients(k.with(args), []Values{d})
	out := []Values{all["permuted_tokens"](), nil}
	if weights != nil && k.has("permuted_tokens") {
		mine, shape := held(all["probs"]()), k.tensor("probs").shape
		v := bounded(shape...)
		for i, p := range at {
			v.y[p], v.b[p] = mine.y[i], mine.b[i]
		}
		out[1] = v
	}
	return outputs(out...)
}

// mappedGradients are those of what mappedRouting took: of each token its rows added up, of the
// probabilities those of their rows. probs_grad stands in the order of mappedRouting, expert by
// expert and by token within each.
func mappedGradients(k *invocation) []Reading {
	refuseIf(k.bool("drop_and_pad", false), Unsupported, "drop_and_pad")
	tokens, places, routes := k.int("tokens_num", 0), numbers(k.tensor("sorted_indices")), k.tensor("routing_map")
	refuseIf(tokens < 1 || int64(len(places))%tokens != 0 || len(routes.shape) != 2, ShapesDiffer, routes.shape, []int64{int64(len(places))})
	out := []Values{k.addedRows(k.tensor("grad"), places, nil, int64(len(places))/tokens), nil}
	if k.has("probs_grad") {
		has, g, at := numbers(routes), numbers(k.tensor("probs_grad")), 0
		d := zeros(routes.shape...)
		experts := int(routes.shape[1])
		for e := range experts {
			for i := e; i < len(has); i += experts {
				if has[i] != 0 {
					refuseIf(at >= len(g), ShapesDiffer, routes.shape, []int64{int64(len(g))})
					d.y[i], at = g[at], at+1
				}
			}
		}
		out[1] = d
	}
	return outputs(out...)
}

// mappedRouting are the rows of the tokens of each expert that a map has, one expert behind the
// other, with their probabilities and where in these the tokens come from, in the order of tokens.
// With drop_and_pad each expert has as many: tokens that it does not have fill up, and the places
// are the tokens.
func mappedRouting(k *invocation) []Reading {
	x, routes := k.pair("tokens", "routing_map")
	refuseIf(len(x.shape) != 2 || len(routes.shape) != 2 || routes.shape[0] != x.shape[0], ShapesDiffer, x.shape, routes.shape)
	has, experts := numbers(routes), routes.shape[1]
	var tokens, at []int64 // and where the probability of each is
	padded := k.bool("drop_and_pad", false)
	for e := range experts {
		var rest []int64
		first := len(tokens)
		for t := range x.shape[0] {
			if has[t*experts+e] != 0 {
				tokens = append(tokens, t)
			} else {
				rest = append(rest, t)
			}
		}
		if padded {
			// The capacity of an expert. What fills it up are tokens in their order, whose
			// probability is given with them though the map says no.
			most := k.count("num_out_tokens") / experts
			tokens = append(tokens, rest...)
			refuseIf(most > x.shape[0], BadArgument, "num_out_tokens", most, "tokens")
			tokens = tokens[:first+int(most)]
		}
		for _, t := range tokens[first:] {
			at = append(at, t*experts+e)
		}
	}
	back := tokens
	if !padded {
		back = inOrder(int64(len(tokens)))
		slices.SortStableFunc(back, func(a, b int64) int { return int(tokens[a] - tokens[b]) })
	}
	out := []Values{rowsOf(x, tokens, 1), nil, wholes(back, []int64{int64(len(back))})}
	if probs := k.optional("probs"); probs != nil {
		refuseIf(!slices.Equal(probs.shape, routes.shape), ShapesDiffer, probs.shape, routes.shape)
		out[1] = reshape(rowsOf(reshape(probs, []int64{count(probs.shape), 1}), at, 1), []int64{int64(len(at))})
	}
	return outputs(out...)
}

// addedProducts adds xᵀ·w of the rows of each group, or of all, to a part of its own (test of
// op-plugin; MindSpeed's docs/ops/npu_groupmatmul_add_fp32.md and npu_matmul_add.md). sum
// (groups·K, N) + x (M, K) over the rows of a group, transposed, times w (M, N). group_list has
// where groups end; one without rows adds 0. The accumulator and the sum are float32, as in
// gradient accumulation, which this is for.
func addedProducts(k *invocation) Values {
	sum, x := k.pair("input", "x")
	w := k.tensor("weight")
	refuseIf(!k.bool("transpose_x", true) || k.bool("transpose_weight", false) || k.int("group_type", 2) != 2 || k.int("group_list_type", 0) != 0, Unsupported, "transpose_x, transpose_weight, group_type, group_list_type")
	refuseIf(len(x.shape) != 2 || len(w.shape) != 2 || x.shape[0] != w.shape[0], ShapesDiffer, x.shape, w.shape)
	var parts []Values
	from, ends := int64(0), k.ints("group_list")
	if !k.has("group_list") {
		ends = x.shape[:1]
	}
	refuseIf(int64(len(ends)) > 1<<16 || count(sum.shape) != int64(len(ends))*x.shape[1]*w.shape[1], ShapesDiffer, sum.shape, x.shape, w.shape)
	for _, end := range ends {
		refuseIf(end < from || end > x.shape[0], BadArgument, "group_list", end, "rows of "+shapeText(x.shape))
		if end == from {
			parts = append(parts, zeros(x.shape[1], w.shape[1]))
		} else {
			parts = append(parts, k.product(turned(slab1(x, 0, from, end-from), true), slab1(w, 0, from, end-from)))
		}
		from = end
	}
	refuseIf(len(parts) == 0, NoArgument, "group_list")
	return k.computed("s,p)=s+p", sum, sized(joined(0, parts...), sum.shape))
}

// combinedProducts adds the products of the rows of each expert, weighed, to the rows of the tokens
// that they belong to, and what experts that are shared give to some of them (documentation of
// op-plugin). x (R, K) int8 times the experts' (E, K, N), scaled by channel and token; row_index
// says for each of R rows to which token it is added, logit with which weight. Shared experts' rows
// come from shared_input_offset on. Each sum is bounded for any order, since devices add with
// atomics.
func combinedProducts(k *invocation) Values {
	k.unsupported("bias", "offset")
	refuseIf(k.tensor("x").typ != dtype.Int8, Unsupported, "another type than int8")
	v := held(k.expertProducts(nil, k.scaledProduct))
	n, to, shape, u := v.shape[1], ints(k.tensor("row_index")), k.shape(), k.unit()
	refuseIf(len(shape) != 2 || shape[1] != n || int64(len(to)) != v.shape[0], ShapesDiffer, v.shape, shape)
	weights := k.listOf("logit", int64(len(to)))
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(to))
	}
	sum := newSpreader(count(shape))
	add := func(row int64, from *dense, i int64, weight float64) {
		off := from.bounds(i*n, n)
		for c, x := range from.y[i*n:][:n] {
			b := 0.0
			if off != nil {
				b = off[c]
			}
			sum.add(row*n+int64(c), weight, x, b)
		}
	}
	for i, row := range to {
		refuseIf(row < 0 || row >= shape[0], OutsideCache, "row_index", row, shape[0])
		add(row, v, int64(i), weights[i])
	}
	if k.has("shared_input") {
		shared, first, weight := k.tensor("shared_input"), k.int("shared_input_offset", 0), k.float("shared_input_weight", 1)
		refuseIf(len(shared.shape) != 2 || shared.shape[1] != n || first < 0 || first+shared.shape[0] > shape[0], ShapesDiffer, shared.shape, shape)
		d := held(shared)
		for i := range shared.shape[0] {
			add(first+i, d, i, weight)
		}
	}
	return sum.values(shape, true, u)
}

// placedExperts are the places of the experts of each token: a row of the table is how many an
// expert has, and which. It takes that of the rank, or of the token. A choice below its share of
// what the token's choices sum up to is pruned. eplb_table is (experts, 1 + places). Mode 0 takes
// the place for the rank, ranks being shared out evenly: rank / ceil(world / n); mode 1 the token
// number modulo n. The second output is 1 where a choice is kept: s ≥ threshold · Σ s.
func placedExperts(k *invocation) []Reading {
	ids, table := k.pair("expert_ids", "eplb_table")
	refuseIf(len(ids.shape) != 2 || len(table.shape) != 2, ShapesDiffer, ids.shape, table.shape)
	places, width, per := ints(table), table.shape[1], ids.shape[1]
	mode, rank, world := k.int("balance_mode", 0), k.int("local_rank_id", -1), k.int("world_size", -1)
	refuseIf(mode != 0 && mode != 1 || mode == 0 && (rank < 0 || world <= rank), BadArgument, "balance_mode, local_rank_id, world_size", mode, "0 or 1, a rank, the size of its group")
	to := make([]int64, count(ids.shape))
	for i, e := range ints(ids) {
		refuseIf(e < 0 || e >= table.shape[0], OutsideCache, "expert_ids", e, table.shape[0])
		n := places[e*width]
		refuseIf(!within(n, 1, width-1), BadArgument, "eplb_table", n, "as many as a row holds")
		at := int64(i) / per % n
		if mode == 0 {
			at = rank / ((world + n - 1) / n)
		}
		refuseIf(at >= n, BadArgument, "local_rank_id", rank, "a rank of the table")
		to[i] = places[e*width+1+at]
	}
	out := []Values{wholes(to, ids.shape), nil}
	if k.has("expert_scales") {
		s := k.tensor("expert_scales")
		refuseIf(!slices.Equal(s.shape, ids.shape), ShapesDiffer, s.shape, ids.shape)
		sums := &reduced{shape: []int64{ids.shape[0], 1}, in: s, n: per, f: sumOf(k.sumUnit(), per, 1)}
		v := k.computed("x,s,t)=x>=s*t", s, sums, sized(k.tensor("pruning_threshold"), []int64{1, per}))
		out[1] = k.also("x,a)=x*a", v, sized(k.ifGiven("active_mask"), []int64{ids.shape[0], 1}))
	}
	return outputs(out...)
}

// gateSides says whether the left half gates; both where the call does not, for documents of
// npu_geglu differ.
func gateSides(k *invocation) []bool {
	if k.has("activate_left") {
		return []bool{k.bool("activate_left", false)}
	}
	return []bool{false, true}
}

// gateForms are activations within fused kernels.
func gateForms() {
	// y = gelu(gate)·other of the two halves of an axis; approximate 0 is the erf form, 1 that with
	// tanh. act and slope write gelu and its derivative out: Φ(a) = erfc(−a/√2)/2, φ(a) =
	// e^(−a²/2)/√(2π), √(2/π) = 0.7978845608028654.
	define("npu_geglu", function{forward: func(k *invocation) []Reading {
		x := k.tensor("input")
		axis := k.axisOf(x.shape, "dim", -1)
		name := []string{"none", "tanh"}[min(max(k.int("approximate", 1), 0), 1)]
		c := k.with(map[string]*argument{"approximate": textArgument(name)})
		of := func(left bool) Reading {
			gate, second := k.halved(x, axis, left)
			v := c.applied(catalogue.Of("gelu"), gate)
			return Reading{Name: "activate_left " + strconv.FormatBool(left), Out: []Values{k.times(k.halves(v), second), v}}
		}
		var list []Reading
		for _, left := range gateSides(k) {
			list = append(list, of(left))
		}
		return list
	}, nodes: [][]string{{"input"}}, backward: func(k *invocation, g []Values) gradients {
		act, slope := "a/2*erfc(-a*0.7071067811865476)", "erfc(-a*0.7071067811865476)/2+a*exp(-a*a/2)*0.3989422804014327"
		if k.int("approximate", 1) != 0 {
			t := "tanh(0.7978845608028654*(a+0.044715*a*a*a))"
			act, slope = "a/2*(1+"+t+")", "(1+"+t+")/2+a/2*(1-"+t+"*"+t+")*0.7978845608028654*(1+0.134145*a*a)"
		}
		return k.gatedGradients(g[:1], gateSides(k), act, slope)
	}})
	define("npu_gelu_mul", function{forward: formulaFor(func(k *invocation) Values { // documentation of torch_npu
		x := k.tensor("input")
		gate, second := k.halved(x, len(x.shape)-1, true)
		return k.times(k.halves(k.applied(catalogue.Of("gelu"), gate)), second)
	})})
	// torch_npu.npu_ffn.
	define("npu_ffn", function{forward: feedForward})
	// Its mean and rstd are not computed. swish_scale other than 1 is refused.
	define("npu_group_norm_silu", function{forward: func(k *invocation) []Reading {
		k.only(1, "swish_scale")
		v := forms["group_norm"].forward(k)[0].Out[0]
		return outputs(k.applied(catalogue.Of("silu"), v), nil, nil)
	}, nodes: [][]string{{"input", "weight", "bias"}}, backward: func(k *invocation, g []Values) gradients {
		k.only(1, "swish_scale")
		v := forms["group_norm"].forward(k)[0].Out[0]
		d := k.computed("g,y)=g*sigmoid(y)*(1+y*(1-sigmoid(y)))", reshape(k.alone(g), v.Shape()), k.between(v))
		return forms["group_norm"].backward(k, []Values{d})
	}})
}

// feedForward is act(x·w1 + b1)·w2 + b2, of the rows of each expert with its own weights. The
// hidden tensor is rounded to its type, and with inner_precise 1 what the activation takes and
// computes is in float16 (op-plugin's documentation of npu_ffn; ops-transformer ffn/ffn,
// aclnnFFNV3.md). Which half gates, and which gelu it is, they do not say: each is a reading.
func feedForward(k *invocation) (out []Reading) {
	k.unsupported("scale", "offset", "deq_scale1", "deq_scale2", "antiquant_scale1", "antiquant_scale2", "antiquant_offset1", "antiquant_offset2")
	x, w1 := k.pair("x", "weight1")
	w2 := k.tensor("weight2")
	refuseIf(len(x.shape) < 2 || len(w1.shape) < 2 || len(w1.shape) > 3 || len(w2.shape) != len(w1.shape), ShapesDiffer, x.shape, w1.shape, w2.shape)
	name, gated := strings.CutSuffix(strings.Replace(strings.ToLower(k.string("activation", "")), "swiglu", "siluglu", 1), "glu")
	if name == "ge" || name == "re" {
		name += "lu"
	}
	row := catalogue.Of(strings.Replace(name, "fastgelu", "fast_gelu", 1))
	refuseIf(row.Formula == nil, Unsupported, "activation "+name)
	width := x.shape[len(x.shape)-1]
	refuseIf(width == 0, ShapesDiffer, x.shape)
	rows := reshape(x, []int64{count(x.shape) / width, width})
	// x is (M, K1), weight1 (E, K1, N1), weight2 (E, N1 or N1/2, N2); weights without E serve all
	// rows.
	layer := func(c *invocation, x Values, e int, first bool) Values {
		of := func(name string) Values {
			switch o := k.optional(name); {
			case o == nil:
				return nil
			case len(w1.shape) == 3 && strings.HasPrefix(name, "weight") || len(o.shape) == 2 && strings.HasPrefix(name, "bias"):
				return reshape(slab1(o, 0, int64(e), 1), o.shape[1:])
			default:
				return o
			}
		}
		v := k.plus(k.product(x, of("weight1")), of("bias1"))
		ulps := k.ulps()
		if k.outType() == dtype.Float16 && k.int("inner_precise", 1) == 1 {
			v, ulps = k.between(v), 8*0x1p-11
		}
		act := func(v Values) Values {
			return elementsOf(rounding(c.slope(row), ulps, row.Near, row.Traits&catalogue.Cancels != 0), nil, false, []Values{v})
		}
		if gated {
			gate, other := k.halved(v, 1, first)
			v = k.times(k.halves(act(gate)), other)
		} else {
			v = act(v)
		}
		return k.plus(k.product(k.between(v), of("weight2")), of("bias2"))
	}
	// expert_tokens are counts, expert_tokens_index where the rows of each expert end.
	whole := func(c *invocation, first bool) Values {
		if len(w1.shape) == 2 {
			return layer(c, rows, 0, first)
		}
		ends := k.ints("expert_tokens_index")
		if ends == nil {
			ends = endsOf(k.ints("expert_tokens"))
		}
		refuseIf(len(ends) == 0 || int64(len(ends)) != w1.shape[0] || !slices.IsSorted(ends) || ends[0] < 0 || ends[len(ends)-1] != rows.Shape()[0], BadArgument, k.shown("expert_tokens"), shapeText(ends), "the rows of "+shapeText(w1.shape)+" experts")
		var parts []Values
		from := int64(0)
		for e, end := range ends {
			if end > from {
				parts = append(parts, layer(c, slab1(rows, 0, from, end-from), e, first))
			}
			from = end
		}
		refuseIf(len(parts) == 0, ShapesDiffer, x.shape)
		return joined(0, parts...)
	}
	for _, approximate := range []string{"tanh", "none"} {
		for _, first := range []bool{true, false} {
			if approximate == "none" && name != "gelu" || !first && !gated {
				continue
			}
			c := k.with(map[string]*argument{"approximate": textArgument(approximate)})
			y := whole(c, first)
			out = append(out, Reading{Name: "approximate " + approximate + ", first half gates " + strconv.FormatBool(first),
				Out: []Values{reshape(y, append(slices.Clone(x.shape[:len(x.shape)-1]), y.Shape()[1]))}})
		}
	}
	return out
}

// initRouting orders the rows of tokens by their expert, those of experts in a range alone, and
// copies, scales or quantises them. Its further outputs are where each went, or came from, how many
// each expert has, and the scales. x is (T, H), expert_idx (T, k). The places of row i = t·k + j in
// expert order come first (row_idx_type 0), or for each place the row (1). What lies behind the
// active rows is not written by the kernel, and may be anything. quant_mode −1 copies, with scales
// passed on a row; 1 quantises each row by its largest magnitude after smoothing by the expert's
// scale; 2 and 3 by 32 with powers of two, to float8 e5m2 and e4m3.
func initRouting(k *invocation) []Reading {
	if mode := k.int("quant_mode", -1); !k.has("scale_alg") && (mode == 2 || mode == 3) { // the documentation of op-plugin rounds exponents down, its test up
		var both []Reading
		for alg := range int64(2) {
			r := initRouting(k.with(map[string]*argument{"scale_alg": intArgument(alg)}))[0]
			r.Name = "scale_alg=" + itoa(int(alg))
			both = append(both, r)
		}
		return both
	}
	x, idx := k.pair("x", "expert_idx")
	refuseIf(len(x.shape) != 2 || len(idx.shape) != 2 || idx.shape[0] != x.shape[0] || idx.shape[1] == 0, ShapesDiffer, x.shape, idx.shape)
	k.only(0, "drop_pad_mode")
	experts, per := numbers(idx), idx.shape[1]
	all := k.ints("active_expert_range")
	lo, hi := 0.0, math.Inf(1)
	if len(all) == 2 {
		lo, hi = float64(all[0]), float64(all[1])
	} else {
		refuseIf(len(all) != 0, BadArgument, "active_expert_range", all, "two numbers")
		if n := k.int("expert_num", -1); n > 0 {
			hi = float64(n)
		}
	}
	var order []int64
	for i, e := range experts {
		if e >= lo && e < hi {
			order = append(order, int64(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int64) int { return int(experts[a]) - int(experts[b]) })
	have := k.shape()
	refuseIf(len(have) != 2 || have[0] > int64(len(experts)), ShapesDiffer, have, idx.shape)
	active := int64(len(order))
	if n := k.int("active_num", -1); n > 0 {
		active = min(active, n)
	}
	active = min(active, have[0])
	places := append(slices.Clone(order[:active]), repeated(int(have[0]-active), -1)...)
	rows := k.rowsAt(x, places, per)
	out := make([]Values, 4)
	mode := k.int("quant_mode", -1)
	scales := k.optional("scale")
	switch {
	case mode == -1:
		out[0] = rows
		if shape, ok := k.out(3); scales != nil && ok && count(shape) == have[0] {
			refuseIf(count(scales.shape) != x.shape[0], ShapesDiffer, scales.shape, x.shape)
			out[3] = reshape(k.rowsAt(reshape(scales, []int64{x.shape[0], 1}), places, per), shape)
		}
	case mode == 0 && k.outputType(0) == dtype.Int8 && scales != nil && count(scales.shape) == 1:
		v := k.computed("x,s)=x*s", rows, reshape(scales, nil))
		if o := k.optional("offset"); o != nil {
			v = k.computed("x,o)=x+o", &rounded{v, precisionFor(x.numeric())}, reshape(o, nil))
		}
		out[0] = k.clippedTo(dtype.Int8, math.RoundToEven, &rounded{v, precisionFor(x.numeric())})
	case mode == 1 && k.outputType(0) == dtype.Int8:
		v := rows
		if scales != nil {
			refuseIf(len(scales.shape) != 2 || scales.shape[1] != x.shape[1], ShapesDiffer, scales.shape, x.shape)
			at := make([]int64, len(places))
			for i, p := range places {
				if p >= 0 && scales.shape[0] > 1 {
					at[i] = int64(experts[p] - lo)
				}
				refuseIf(at[i] >= scales.shape[0], ShapesDiffer, scales.shape, []int64{at[i]})
			}
			v = k.times(rows, rowsOf(scales, at, 1))
		}
		out[0], out[3] = k.byRowQuantised(v, k.outputType(0), 3)
	case (mode == 2 || mode == 3) && scales == nil && !slices.Contains(places, -1): // by 32, to e5m2 or e4m3
		refuseIf(k.outputType(0) != map[int64]dtype.Type{2: dtype.Float8E5M2, 3: dtype.Float8E4M3FN}[mode], BadType, "output 0", k.outputType(0).String())
		out[0], out[3] = k.alongBlocks(rows, 1, nil, 0, 3)
	default:
		panic(refusal(Unsupported, "quant_mode "+itoa(int(mode))))
	}
	if shape, ok := k.out(1); ok && count(shape) == int64(len(experts)) {
		to := repeated(len(experts), -1)
		switch k.int("row_idx_type", 0) {
		case 0:
			for at, i := range order {
				to[i] = int64(at)
			}
			out[1] = wholes(to, shape)
		case 1:
			copy(to, order)
			from := &formula{shape: shape, exact: true, f: func(i int64, _ []int64) (float64, float64) {
				if i >= int64(len(order)) {
					return 0, math.Inf(1)
				}
				return float64(order[i]), 0
			}}
			out[1] = from
		}
	}
	if shape, ok := k.out(2); ok && k.bool("expert_tokens_num_flag", false) && len(shape) == 1 {
		counts := make([]int64, shape[0])
		for _, i := range order {
			if e := int64(experts[i] - lo); e < shape[0] {
				counts[e]++
			}
		}
		// 0 counts up to and with each expert, 1 for each; other kinds are not computed.
		switch k.int("expert_tokens_num_type", 0) {
		case 0:
			out[2] = wholes(endsOf(counts), shape)
		case 1:
			out[2] = wholes(counts, shape)
		}
	}
	return outputs(out...)
}

// finalizeRouting sums the rows of each token, weighed, in the order of k, to what is passed by; a
// row that was dropped is 0. In modes 0 and 1 the places of all tokens for each k stand together,
// in 2 and 3 those of each token.
// out[t] = skip1 + skip2 + Σ_j scales[t, j]·(rows[place(t, j)] + bias[expert(t, j)]). float32
// within, but for float16, where each operation rounds.
func finalizeRouting(k *invocation) Values {
	rows, to := k.tensor("expanded_permuted_rows"), k.tensor("expanded_src_to_dst_row")
	places := numbers(to)
	per := int64(1)
	scales := k.optional("scales")
	if scales != nil {
		refuseIf(len(scales.shape) != 2, ShapesDiffer, scales.shape)
		per = scales.shape[1]
	}
	n := len(rows.shape)
	refuseIf(n < 2 || per == 0 || int64(len(places))%per != 0, ShapesDiffer, rows.shape, to.shape)
	width := rows.shape[n-1]
	tokens := int64(len(places)) / per
	d := held(rows)
	skips := [][]float64{k.listOf("skip1", tokens*width), k.listOf("skip2", tokens*width)}
	weights := k.listOf("scales", tokens*per)
	var bias, expert []float64
	if k.has("bias") {
		o := k.tensor("bias")
		refuseIf(len(o.shape) != 2 || o.shape[1] != width, ShapesDiffer, o.shape)
		bias, expert = numbers(o), k.listOf("export_for_source_row", tokens*per)
		k.required("export_for_source_row")
	}
	byToken := k.int("drop_pad_mode", 0) >= 2
	held, a := int64(len(d.y))/max(width, 1), k.arith()
	p := precisionFor(rows.numeric())
	halves := rows.typ == dtype.Float16
	for _, at := range places {
		refuseIf(at >= float64(held), OutsideCache, "expanded_src_to_dst_row", at, held)
	}
	return &formula{shape: []int64{tokens, width}, cost: float64(per), f: func(i int64, _ []int64) (float64, float64) {
		t, e := i/width, i%width
		sum := num{}
		round := func(x num) num {
			if halves { // without casts
				x.b += p.v*(abs(x.y)+x.b) + p.t
			}
			return x
		}
		for _, s := range skips {
			if s != nil {
				sum = round(a.add(sum, exactNum(s[i])))
			}
		}
		for j := range per {
			at := places[j*tokens+t]
			if byToken {
				at = places[t*per+j]
			}
			x := num{}
			if at >= 0 {
				x = exactNum(d.y[int64(at)*width+e])
			}
			if bias != nil {
				b := int64(expert[t*per+j])*width + e
				if b < 0 || b >= int64(len(bias)) {
					return 0, math.Inf(1)
				}
				x = round(a.add(x, exactNum(bias[b])))
			}
			if weights != nil {
				x = round(a.mul(x, exactNum(weights[t*per+j])))
			}
			sum = round(a.add(sum, x))
		}
		return sum.y, sum.b
	}}
}

// reRouting orders tokens that came rank by rank, each rank's by expert, by expert and then by
// rank. expert_token_num_per_rank is (ranks, experts), and the tokens stand in that order. Rows
// behind their sum are not written.
func reRouting(k *invocation) []Reading {
	x, counts := k.pair("tokens", "expert_token_num_per_rank")
	k.only(0, "idx_type")
	refuseIf(len(x.shape) != 2 || len(counts.shape) != 2, ShapesDiffer, x.shape, counts.shape)
	n := numbers(counts)
	ranks, experts := counts.shape[0], counts.shape[1]
	starts := make([]int64, len(n))
	at := int64(0)
	for i, c := range n {
		starts[i] = at
		refuseIf(c < 0 || c > float64(x.shape[0]), BadArgument, "expert_token_num_per_rank", c, "tokens")
		at += int64(c)
	}
	refuseIf(at > x.shape[0], ShapesDiffer, x.shape, counts.shape)
	var order []int64
	sums := make([]int64, experts)
	for e := range experts {
		for r := range ranks {
			for j := range int64(n[r*experts+e]) {
				order = append(order, starts[r*experts+e]+j)
			}
			sums[e] += int64(n[r*experts+e])
		}
	}
	if k.int("expert_token_num_type", 1) == 0 {
		endsOf(sums)
	}
	places := append(slices.Clone(order), repeated(int(x.shape[0]-at), -1)...)
	moved := func(v Values) Values { return k.rowsAt(v, places, 1) }
	out := []Values{moved(x), nil, nil, nil}
	if s := k.optional("per_token_scales"); s != nil {
		if shape, ok := k.out(1); ok {
			refuseIf(count(s.shape) != x.shape[0], ShapesDiffer, s.shape, x.shape)
			out[1] = sized(moved(reshape(s, []int64{x.shape[0], 1})), shape)
		}
	}
	if shape, ok := k.out(2); ok && count(shape) == int64(len(order)) {
		out[2] = wholes(order, shape)
	}
	if shape, ok := k.out(3); ok && count(shape) == experts {
		out[3] = wholes(sums, shape)
	}
	return outputs(out...)
}

// unpadded refuses padded_mode, in which each expert has as many rows.
func (k *invocation) unpadded() {
	refuseIf(k.bool("padded_mode", false), Unsupported, "padded_mode")
}

// byExpert is the order of tokens by their expert, and where each comes to stand in it.
func (k *invocation) byExpert(idx *operand) (order, back []int64) {
	list := numbers(idx)
	order, back = inOrder(int64(len(list))), make([]int64, len(list))
	slices.SortStableFunc(order, func(a, b int64) int { return int(list[a]) - int(list[b]) })
	for at, i := range order {
		back[i] = int64(at)
	}
	return order, back
}

// unpermuted sums the rows of each token, weighed, in the order of its experts; one rounding
// (ops-transformer moe_token_unpermute). Rows that were dropped count nothing.
func (k *invocation) unpermuted(x, idx, probs *operand) Values {
	places, weights, per := numbers(idx), []float64(nil), int64(1)
	if probs != nil {
		refuseIf(len(probs.shape) != 2, ShapesDiffer, probs.shape)
		weights, per = numbers(probs), probs.shape[1]
	}
	for _, p := range places { // the kernel looks whether a place is below the number of rows, and reads in front of them
		refuseIf(p < 0, OutsideCache, k.shown("sorted_indices"), p, x.shape[0])
	}
	return k.addedRows(x, places, weights, per)
}

// addedRows are the sums of so many rows at places each, weighed or not. Element (t, e) is Σ_j
// x[places[t·per + j], e]·weight. A place beyond the rows is of one that was dropped; one that is
// no place at all leaves the sum open. The device sums in float32: per products, per sums.
func (k *invocation) addedRows(x Values, places, weights []float64, per int64) Values {
	s := x.Shape()
	refuseIf(len(s) != 2 || per < 1 || int64(len(places))%per != 0 || weights != nil && len(weights) != len(places), ShapesDiffer, s, []int64{int64(len(places)), per})
	rows := held(x)
	g, width := gamma(float64(per)+2, k.sumUnit()), s[1]
	return &formula{shape: []int64{int64(len(places)) / per, width}, f: func(i int64, _ []int64) (y, b float64) {
		size := 0.0
		for j := range per {
			p := places[i/width*per+j]
			switch {
			case p >= float64(len(places)) || p < 0:
				return 0, math.Inf(1)
			case p >= float64(s[0]):
				continue
			}
			v := rows.y[int64(p)*width+i%width]
			if weights != nil {
				v *= weights[i/width*per+j]
			}
			y += v
			size += abs(v)
		}
		return y, g * size
	}}
}

// unpermutedGradients are those of the rows, which each get that of their token times its weight,
// and of the weights, each the product of both.
func unpermutedGradients(k *invocation, g []Values) gradients {
	k.unpadded()
	idx, probs, d := k.tensor("sorted_indices"), k.optional("probs"), gradient(g, 0)
	places, s := numbers(idx), d.Shape()
	rows := int64(len(places))
	if k.has("permuted_tokens") {
		rows = k.tensor("permuted_tokens").shape[0]
	}
	per := rows
	if len(s) == 2 && s[0] > 0 {
		per = int64(len(places)) / s[0]
	}
	refuseIf(len(s) != 2 || per < 1 || per*s[0] != int64(len(places)) || probs != nil && count(probs.shape) != int64(len(places)), ShapesDiffer, s, idx.shape)
	// The inverse of sorted_indices: every row goes to one place.
	back := make([]int64, rows) // which place each row came from
	for i, p := range places {
		refuseIf(p < 0 || p >= float64(len(places)), BadArgument, "sorted_indices", p, "a row")
		if p < float64(rows) {
			back[int(p)] = int64(i)
		}
	}
	spread := func() Values { return rowsOf(d, back, per) }
	return gradients{
		"permuted_tokens": func() Values {
			if probs == nil {
				return spread()
			}
			weight := rowsOf(reshape(probs, []int64{int64(len(places)), 1}), back, 1)
			return k.computed("g,w)=g*w", spread(), weight)
		},
		"probs": func() Values {
			k.required("probs")
			x := k.tensor("permuted_tokens")
			list := make([]int64, len(places))
			for i, p := range places {
				refuseIf(p >= float64(rows), Unsupported, "dropped rows")
				list[i] = int64(p)
			}
			mine, theirs := rowsOf(x, list, 1), rowsOf(d, inOrder(int64(len(list))), per)
			terms := k.computed("x,g)=x*g", mine, theirs)
			return &reduced{shape: probs.shape, in: terms, n: s[1], f: sumOf(k.sumUnit(), s[1], 1)}
		},
	}
}

// leaveFinished gives rows that are marked as finished the number of experts in place of one: they
// go to none (test of op-plugin).
func (k *invocation) leaveFinished(idx *dense, of []int64) {
	done, experts := k.listOf("finished", count(of[:len(of)-1])), of[len(of)-1]
	few := idx.shape[len(idx.shape)-1]
	for i := range idx.y {
		if done != nil && done[int64(i)/few] != 0 {
			idx.y[i], idx.b[i] = float64(experts), 0
		}
	}
}

// gated are the largest probabilities of each row and their places, in falling order: by probs and
// what is added to choose by, if anything is. What is nearly equal may change places. Of (rows,
// experts) come (rows, k). added is a bias that takes part in choosing and not in what is given;
// closed says which experts may not be chosen. Two keys are near where their bounds, and a rounding
// of each, overlap: then the place is open, and with a bias the value, too, as it does not follow
// the order.
func (k *invocation) gated(probs *dense, added []float64, closed func(r int64, i int) bool) (y, idx *dense) {
	rank := len(probs.shape)
	out := k.shape()
	refuseIf(len(out) != rank || !slices.Equal(out[:rank-1], probs.shape[:rank-1]) || out[rank-1] > probs.shape[rank-1], ShapesDiffer, probs.shape, out)
	n, few := probs.shape[rank-1], out[rank-1]
	refuseIf(count(out) > maxDense, TooLarge, count(out), maxDense)
	y, idx = bounded(out...), bounded(out...)
	for r := range count(out) / max(few, 1) {
		row, off := probs.y[r*n:][:n], probs.b[r*n:][:n]
		key := func(i int) float64 {
			if closed != nil && closed(r, i) {
				return math.Inf(-1)
			}
			if added != nil {
				return row[i] + added[i]
			}
			return row[i]
		}
		near := func(i, j int) bool {
			return abs(key(i)-key(j)) <= off[i]+off[j]+2*u32*(abs(key(i))+abs(key(j)))
		}
		order, keys := inOrder(int(n)), make([]float64, n)
		for i := range keys {
			keys[i] = key(i)
		}
		sortBy(order, keys, -1)
		for j := range few {
			i := order[j]
			at := r*few + j
			y.y[at], y.b[at], idx.y[at] = row[i], off[i], float64(i)
			if j > 0 && near(i, order[j-1]) || int(j)+1 < len(order) && near(i, order[j+1]) {
				if idx.b[at] = math.Inf(1); added != nil {
					y.b[at] = math.Inf(1)
				}
			}
		}
	}
	return y, idx
}

// groupsOf are the experts that are not in the best groups, by the largest probability of each or
// the sum of its two largest; doubt marks the rows in which another group is as good. A group is
// out of doubt where its score is 64 units above that of the best one left out, for sums of two and
// the bias.
func (k *invocation) groupsOf(probs *dense, added []float64) (closed func(r int64, i int) bool, doubt []bool) {
	groups, best, n := k.int("group_count", 1), k.int("k_group", 1), probs.shape[1]
	if groups == best {
		return nil, nil
	}
	kind := k.int("group_select_mode", 0)
	refuseIf(groups < 1 || best < 1 || best > groups || n%groups != 0 || kind != 0 && kind != 1 || n/groups < 2 && kind == 1, BadArgument, "group_count", groups, "groups of "+itoa(int(n)))
	per := n / groups
	open := make([]bool, count(probs.shape))
	doubt = make([]bool, probs.shape[0])
	score, order := make([]float64, groups), make([]int, groups)
	for r := range probs.shape[0] {
		for g := range groups {
			first, second := math.Inf(-1), math.Inf(-1)
			for i := g * per; i < (g+1)*per; i++ {
				v := probs.y[r*n+i]
				if added != nil {
					v += added[i]
				}
				if v > first {
					first, second = v, first
				} else {
					second = max(second, v)
				}
			}
			if score[g], order[g] = first, int(g); kind == 1 {
				score[g] += second
			}
		}
		sortBy(order, score, -1)
		doubt[r] = score[order[best-1]]-score[order[best]] <= 64*u32*(1+abs(score[order[best]]))
		for _, g := range order[:best] {
			for i := int64(g) * per; i < int64(g+1)*per; i++ {
				open[r*n+i] = true
			}
		}
	}
	return func(r int64, i int) bool { return !open[r*n+int64(i)] }, doubt
}

// gatingTopK: the probabilities are a softmax or sigmoids; the bias takes part in the choice alone;
// those of sigmoids are divided by their sum.
// y = p/(Σ p + eps)·routed_scaling_factor for sigmoids, p·factor for a softmax; in rows whose
// groups are in doubt nothing is judged.
func gatingTopK(k *invocation) []Reading {
	x := k.tensor("x")
	k.only(0, "renorm")
	k.unsupported("input_ids", "tid2eid")
	refuseIf(len(x.shape) != 2, ShapesDiffer, x.shape)
	a, kind := k.arith(), k.int("norm_type", 0)
	var v Values
	switch kind {
	case 0:
		v = k.softmax(x, []int{1}, false)
	case 1:
		v = k.applied(catalogue.Of("sigmoid"), x)
	default:
		panic(refusal(BadArgument, "norm_type", kind, "0 or 1"))
	}
	probs := held(v)
	added := k.listOf("bias", x.shape[1])
	closed, doubt := k.groupsOf(probs, added)
	y, idx := k.gated(probs, added, closed)
	for at := range idx.b {
		if doubt != nil && doubt[int64(at)/y.shape[1]] {
			y.b[at], idx.b[at] = math.Inf(1), math.Inf(1)
		}
	}
	scale, eps := k.factor("routed_scaling_factor"), k.float("eps", 1e-20)
	few := y.shape[1]
	for r := range y.shape[0] {
		row := make([]num, few)
		for j := range row {
			row[j] = num{y.y[r*few+int64(j)], y.b[r*few+int64(j)]}
		}
		sum := a.add(total(row, k.sumUnit()), exactNum(eps))
		for j, p := range row {
			if kind == 1 {
				p = a.div(p, sum)
			}
			p = a.mul(p, scale)
			y.y[r*few+int64(j)], y.b[r*few+int64(j)] = p.y, p.b
		}
	}
	return outputs(y, idx, probs)
}
