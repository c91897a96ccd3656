package weights

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/internal/must"
	"precision/internal/nd"
)

// tensors is a network in memory; shapes[name] of what is there.
type tensors struct {
	shape map[string][]int64
	v     map[string][]float64
}

func (n *tensors) put(name string, v []float64, shape ...int64) {
	n.shape[name], n.v[name] = shape, v
}

func (n *tensors) clone() *tensors {
	c := &tensors{maps.Clone(n.shape), map[string][]float64{}}
	for k, v := range n.v {
		c.v[k] = slices.Clone(v)
	}
	return c
}

// decoder is a network of two layers, the second with experts, whose elements are numbers of bfloat16.
func decoder(seed uint64) *tensors {
	r := rand.New(rand.NewPCG(seed, 1))
	n := &tensors{map[string][]int64{}, map[string][]float64{}}
	add := func(name string, shape ...int64) {
		v := make([]float64, nd.Size(shape))
		for i := range v {
			v[i] = dtype.BFloat16.Rounding().Round(r.NormFloat64())
		}
		n.put(name, v, shape...)
	}
	add("model.embed_tokens.weight", 48, 32)
	for _, l := range []string{"model.layers.0.", "model.layers.1."} {
		add(l+"input_layernorm.weight", 32)
		add(l+"self_attn.q_proj.weight", 64, 32)
		add(l+"self_attn.k_proj.weight", 32, 32)
		add(l+"self_attn.v_proj.weight", 32, 32)
		add(l+"self_attn.o_proj.weight", 32, 64)
		add(l+"post_attention_layernorm.weight", 32)
	}
	add("model.layers.0.mlp.gate_proj.weight", 40, 32)
	add("model.layers.0.mlp.up_proj.weight", 40, 32)
	add("model.layers.0.mlp.down_proj.weight", 32, 40)
	add("model.layers.1.mlp.gate.weight", 3, 32)
	for _, e := range []string{"0", "1", "2"} {
		add("model.layers.1.mlp.experts."+e+".gate_proj.weight", 24, 32)
		add("model.layers.1.mlp.experts."+e+".up_proj.weight", 24, 32)
		add("model.layers.1.mlp.experts."+e+".down_proj.weight", 32, 24)
	}
	add("model.norm.weight", 32)
	add("lm_head.weight", 48, 32)
	return n
}

// open writes a safetensors file of a type and opens it.
func (n *tensors) open(t *testing.T, typ string) *checkpoint.Set {
	t.Helper()
	head, data := map[string]any{}, []byte{}
	for _, name := range slices.Sorted(maps.Keys(n.v)) {
		at := len(data)
		for _, x := range n.v[name] {
			bits := math.Float32bits(float32(x))
			if typ == "F32" {
				data = binary.LittleEndian.AppendUint32(data, bits)
			} else {
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
			}
		}
		head[name] = map[string]any{"dtype": typ, "shape": n.shape[name], "data_offsets": []int{at, len(data)}}
	}
	h, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.WriteFile(file, append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), data...), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := checkpoint.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fused is the network as an engine keeps it; interleaved: in Megatron's order of query, key and value, with heads of 16.
func fused(n *tensors, interleaved bool) *tensors {
	f := n.clone()
	take := func(name string) []float64 {
		v := f.v[name]
		delete(f.v, name)
		delete(f.shape, name)
		return v
	}
	for _, l := range []string{"model.layers.0.", "model.layers.1."} {
		q, k, v := take(l+"self_attn.q_proj.weight"), take(l+"self_attn.k_proj.weight"), take(l+"self_attn.v_proj.weight")
		all := slices.Concat(q, k, v)
		if interleaved {
			all = nil
			for g := range 2 {
				all = slices.Concat(all, q[g*32*32:(g+1)*32*32], k[g*16*32:(g+1)*16*32], v[g*16*32:(g+1)*16*32])
			}
		}
		f.put(l+"self_attn.qkv_proj.weight", all, 128, 32)
	}
	f.put("model.layers.0.mlp.gate_up_proj.weight", slices.Concat(take("model.layers.0.mlp.gate_proj.weight"), take("model.layers.0.mlp.up_proj.weight")), 80, 32)
	var w13, w2 []float64
	for _, e := range []string{"0", "1", "2"} {
		p := "model.layers.1.mlp.experts." + e + "."
		w13 = slices.Concat(w13, take(p+"gate_proj.weight"), take(p+"up_proj.weight"))
		w2 = slices.Concat(w2, take(p+"down_proj.weight"))
	}
	f.put("model.layers.1.mlp.experts.w13_weight", w13, 3, 48, 32)
	f.put("model.layers.1.mlp.experts.w2_weight", w2, 3, 32, 24)
	return f
}

// kinds are the tensors that are not the same, by their names without ".weight".
func kinds(t *testing.T, left, right *checkpoint.Set) map[string]Kind {
	t.Helper()
	r, err := Compare(context.Background(), left, right, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Kind{}
	for _, x := range r.Tensors {
		if x.Kind != Same {
			found[strings.TrimPrefix(strings.TrimSuffix(x.Name, ".weight"), "model.")] = x.Kind
		}
	}
	return found
}

func TestFused(t *testing.T) {
	n := decoder(1)
	for name, right := range map[string]*checkpoint.Set{
		"apart":       n.open(t, "BF16"),
		"master":      n.open(t, "F32"),
		"fused":       fused(n, false).open(t, "BF16"),
		"interleaved": fused(n, true).open(t, "BF16"),
	} {
		if found := kinds(t, n.open(t, "BF16"), right); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		if found := kinds(t, right, n.open(t, "F32")); len(found) > 0 {
			t.Errorf("%s, on the left: %v", name, found)
		}
	}
}

// TestKinds changes weights of a network and expects to hear of these and no others.
func TestKinds(t *testing.T) {
	const q, up, down = "model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.down_proj.weight"
	const bias = "model.layers.1.mlp.gate.bias"
	expert := func(e, part string) string { return "model.layers.1.mlp.experts." + e + "." + part + "_proj.weight" }
	for _, c := range []struct {
		name   string
		change func(n *tensors)
		want   map[string]Kind
	}{
		{"one bit", func(n *tensors) { n.v[q][77] *= 1.0078125 }, map[string]Kind{"layers.0.self_attn.q_proj": Step}},
		{"another step", func(n *tensors) {
			for i := range n.v[down] {
				n.v[down][i] += math.Copysign(0.01, math.Sin(float64(i)))
			}
		}, map[string]Kind{"layers.0.mlp.down_proj": Step}},
		{"not synchronised", func(n *tensors) {
			for i := range n.v[down] {
				n.v[down][i] *= 1 + 0.02*math.Sin(float64(i))
			}
		}, map[string]Kind{"layers.0.mlp.down_proj": Near}},
		{"never loaded", func(n *tensors) { fill(n.v["model.norm.weight"], 1) }, map[string]Kind{"norm": Constant}},
		{"zeros", func(n *tensors) { fill(n.v[q], 0) }, map[string]Kind{"layers.0.self_attn.q_proj": Constant}},
		{"gate and up exchanged", func(n *tensors) {
			g := "model.layers.0.mlp.gate_proj.weight"
			n.v[g], n.v[up] = n.v[up], n.v[g]
		}, map[string]Kind{"layers.0.mlp.gate_proj": Elsewhere, "layers.0.mlp.up_proj": Elsewhere}},
		{"int8", func(n *tensors) {
			for row := range 32 {
				w := n.v[down][row*40 : row*40+40]
				largest := 0.0
				for _, x := range w {
					largest = max(largest, math.Abs(x))
				}
				for i := range w {
					w[i] = math.RoundToEven(w[i]/(largest/127)) * (largest / 127)
				}
			}
		}, map[string]Kind{"layers.0.mlp.down_proj": Quantised}},
		{"transposed", func(n *tensors) {
			const k = "model.layers.0.self_attn.k_proj.weight"
			old := slices.Clone(n.v[k])
			for i := range old {
				n.v[k][i%32*32+i/32] = old[i]
			}
		}, map[string]Kind{"layers.0.self_attn.k_proj": Transposed}},
		{"transposed, not square", func(n *tensors) {
			old := n.v[down]
			v := make([]float64, len(old))
			for i := range old {
				v[i%40*32+i/40] = old[i]
			}
			n.put(down, v, 40, 32)
		}, map[string]Kind{"layers.0.mlp.down_proj": Transposed}},
		{"missing", func(n *tensors) { delete(n.v, q) }, map[string]Kind{"layers.0.self_attn.q_proj": MissingHere}},
		{"one more", func(n *tensors) { n.put("model.layers.0.self_attn.q_proj.bias", make([]float64, 64), 64) }, map[string]Kind{"layers.0.self_attn.q_proj.bias": Extra}},
		{"another shape", func(n *tensors) { n.put(q, n.v[q][:32*32], 32, 32) }, map[string]Kind{"layers.0.self_attn.q_proj": Shape}},
		{"another network", func(n *tensors) { n.v[q] = decoder(2).v[q] }, map[string]Kind{"layers.0.self_attn.q_proj": Unlike}},
		{"NaN", func(n *tensors) { n.v[q][5] = math.NaN() }, map[string]Kind{"layers.0.self_attn.q_proj": Unlike}},
		{"padded vocabulary", func(n *tensors) {
			n.put("lm_head.weight", append(n.v["lm_head.weight"], make([]float64, 16*32)...), 64, 32)
		}, map[string]Kind{}},
		{"experts exchanged, and the router", func(n *tensors) {
			swap(n, expert)
			g := n.v["model.layers.1.mlp.gate.weight"]
			for i := range 32 {
				g[i], g[32+i] = g[32+i], g[i]
			}
		}, map[string]Kind{"layers.1.mlp.gate": Permuted,
			"layers.1.mlp.experts.0.gate_proj": Permuted, "layers.1.mlp.experts.0.up_proj": Permuted, "layers.1.mlp.experts.0.down_proj": Permuted,
			"layers.1.mlp.experts.1.gate_proj": Permuted, "layers.1.mlp.experts.1.up_proj": Permuted, "layers.1.mlp.experts.1.down_proj": Permuted}},
		{"experts exchanged, and the router, not its bias", func(n *tensors) {
			swap(n, expert)
			g := n.v["model.layers.1.mlp.gate.weight"]
			for i := range 32 {
				g[i], g[32+i] = g[32+i], g[i]
			}
			n.put(bias, []float64{1, 2, 3}, 3)
		}, map[string]Kind{"layers.1.mlp.gate": Unlike,
			"layers.1.mlp.experts.0.gate_proj": Elsewhere, "layers.1.mlp.experts.0.up_proj": Elsewhere, "layers.1.mlp.experts.0.down_proj": Elsewhere,
			"layers.1.mlp.experts.1.gate_proj": Elsewhere, "layers.1.mlp.experts.1.up_proj": Elsewhere, "layers.1.mlp.experts.1.down_proj": Elsewhere}},
		{"experts exchanged, not the router", func(n *tensors) { swap(n, expert) }, map[string]Kind{
			"layers.1.mlp.experts.0.gate_proj": Elsewhere, "layers.1.mlp.experts.0.up_proj": Elsewhere, "layers.1.mlp.experts.0.down_proj": Elsewhere,
			"layers.1.mlp.experts.1.gate_proj": Elsewhere, "layers.1.mlp.experts.1.up_proj": Elsewhere, "layers.1.mlp.experts.1.down_proj": Elsewhere}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, left := decoder(1), decoder(1)
			if c.change(n); n.v[bias] != nil {
				left.put(bias, []float64{1, 2, 3}, 3)
			}
			if found := kinds(t, left.open(t, "F32"), n.open(t, "F32")); !maps.Equal(found, c.want) {
				t.Errorf("found %v, want %v", found, c.want)
			}
		})
	}
	t.Run("a constant that the narrower type does not hold", func(t *testing.T) {
		n := decoder(1)
		fill(n.v[q], 0.1)
		if found := kinds(t, decoder(1).open(t, "BF16"), n.open(t, "F32")); found["layers.0.self_attn.q_proj"] != Constant {
			t.Errorf("found %v", found)
		}
	})
}

// TestEqualRows: experts tie whose rows of the router are equal to the last element, each with each.
func TestEqualRows(t *testing.T) {
	n := decoder(1)
	gate := n.v["model.layers.1.mlp.gate.weight"]
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "map[]"},
		{func() { copy(gate[32:], gate[:32]) }, "map[1:[[0 1]]]"},
		{func() { copy(gate[64:], gate[:32]) }, "map[1:[[0 1] [0 2] [1 2]]]"},
		{func() { gate[5] *= 1.5 }, "map[1:[[1 2]]]"},
	} {
		c.change()
		if got := fmt.Sprint(EqualRows(n.open(t, "BF16"), 2)); got != c.want {
			t.Errorf("found %s, want %s", got, c.want)
		}
	}
}

func fill(v []float64, x float64) {
	for i := range v {
		v[i] = x
	}
}

func swap(n *tensors, expert func(e, part string) string) {
	for _, part := range []string{"gate", "up", "down"} {
		a, b := expert("0", part), expert("1", part)
		n.v[a], n.v[b] = n.v[b], n.v[a]
	}
}

// TestRotated rotates a network's hidden states by reflecting them; a network that is rotated but for one product is not the same,
// and neither is one that is a step away, whose angles are nearly the same.
func TestRotated(t *testing.T) {
	left := decoder(1)
	for _, name := range []string{"gate", "experts"} { // a dense network: two layers alike
		for k := range left.v {
			if strings.Contains(k, "layers.1.mlp."+name) {
				delete(left.v, k)
			}
		}
	}
	rotate := func(row []float64) { // x − 2·u·(u·x), with u = (1, …, 1)/√32
		s := 0.0
		for _, x := range row {
			s += x
		}
		for i := range row {
			row[i] -= 2 * s / float64(len(row))
		}
	}
	right := left.clone()
	for name, v := range right.v {
		shape := right.shape[name]
		switch {
		case len(shape) == 1:
			fill(v, 1)
		case strings.Contains(name, "o_proj"), strings.Contains(name, "down_proj"):
			column := make([]float64, shape[0])
			for c := range int(shape[1]) {
				for r := range column {
					column[r] = v[r*int(shape[1])+c]
				}
				rotate(column)
				for r := range column {
					v[r*int(shape[1])+c] = column[r]
				}
			}
		default:
			for r := 0; r < len(v); r += 32 {
				if n := left.v[normBefore(name)]; !strings.Contains(name, "embed") {
					for i := range 32 {
						v[r+i] *= n[i]
					}
				}
				rotate(v[r : r+32])
			}
		}
	}
	found := kinds(t, left.open(t, "F32"), right.open(t, "F32"))
	for name, k := range found {
		if !k.Harmless() {
			t.Errorf("%s is %s", name, k)
		}
	}
	if len(found) != len(left.v) {
		t.Errorf("%d of %d tensors changed", len(found), len(left.v))
	}
	right.v["model.layers.1.self_attn.v_proj.weight"][0] += 3
	if found := kinds(t, left.open(t, "F32"), right.open(t, "F32")); found["layers.0.self_attn.q_proj"].Harmless() {
		t.Error("one product that was not rotated alike went unseen")
	}
	step := left.clone()
	for _, v := range step.v {
		for i := range v {
			v[i] *= 1 + 0.001*math.Sin(float64(i))
		}
	}
	for name, k := range kinds(t, left.open(t, "F32"), step.open(t, "F32")) {
		if k.Harmless() {
			t.Errorf("%s of another step is %s", name, k)
		}
	}
}

func TestNames(t *testing.T) {
	for from, want := range map[string]string{
		"module.module.decoder.layers.3.self_attention.linear_qkv.weight":      "model.layers.3.self_attn.qkv_proj.weight",
		"decoder.layers.3.mlp.linear_fc1.layer_norm_weight":                    "model.layers.3.post_attention_layernorm.weight",
		"decoder.layers.3.mlp.experts.linear_fc1.weight7":                      "model.layers.3.mlp.experts.7.gate_up_proj.weight",
		"decoder.layers.3.mlp.experts.local_experts.7.linear_fc2.weight":       "model.layers.3.mlp.experts.7.down_proj.weight",
		"decoder.layers.3.mlp.router.weight":                                   "model.layers.3.mlp.gate.weight",
		"embedding.word_embeddings.weight":                                     "model.embed_tokens.weight",
		"output_layer.weight":                                                  "lm_head.weight",
		"decoder.final_layernorm.weight":                                       "model.norm.weight",
		"base_model.model.model.layers.0.self_attn.q_proj.base_layer.weight":   "model.layers.0.self_attn.q_proj.weight",
		"_orig_mod.model.layers.0._fsdp_wrapped_module.input_layernorm.weight": "model.layers.0.input_layernorm.weight",
		"model.layers.0.block_sparse_moe.experts.5.w3.weight":                  "model.layers.0.mlp.experts.5.up_proj.weight",
		"model.layers.0.mlp.experts.gate_up_proj":                              "model.layers.0.mlp.experts.gate_up_proj.weight",
		"transformer.h.0.attn.c_attn.weight":                                   "transformer.h.0.attn.c_attn.weight",
	} {
		if got := Name(from); got != want {
			t.Errorf("%s is called %s, want %s", from, got, want)
		}
	}
}

// TestAdapter has what low-rank training adds on one side: it may be merged into the other's weight with a scale that no checkpoint
// tells, in bfloat16 as engines do, or be missing there.
func TestAdapter(t *testing.T) {
	const name, rank = "model.layers.0.self_attn.q_proj.weight", 4
	base := decoder(3)
	with := base.clone()
	delete(with.shape, name)
	delete(with.v, name)
	r := rand.New(rand.NewPCG(4, 1))
	round := dtype.BFloat16.Rounding()
	random := func(n int) (v []float64) {
		for range n {
			v = append(v, round.Round(0.2*r.NormFloat64()))
		}
		return v
	}
	up, down := random(64*rank), random(rank*32)
	with.put("base_model.model.model.layers.0.self_attn.q_proj.base_layer.weight", base.v[name], 64, 32)
	with.put("base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight", down, rank, 32)
	with.put("base_model.model.model.layers.0.self_attn.q_proj.lora_B.default.weight", up, 64, rank)
	merge := func(scale float64) *tensors {
		n := base.clone()
		for i := range n.v[name] {
			sum := 0.0
			for k := range rank {
				sum += up[i/32*rank+k] * down[k*32+i%32]
			}
			n.v[name][i] = round.Round(n.v[name][i] + round.Round(scale*sum))
		}
		return n
	}
	spoiled := merge(2)
	for i := range 40 {
		spoiled.v[name][50*i] += 0.5
	}
	for _, c := range []struct {
		right *tensors
		want  Kind
		scale float64
	}{
		{merge(2), Merged, 2},
		{merge(0.25), Merged, 0.25},
		{base, Unmerged, 0},
		{spoiled, Near, 0},
	} {
		left, right := with.open(t, "BF16"), c.right.open(t, "BF16")
		rep, err := Compare(t.Context(), left, right, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range rep.Tensors {
			switch {
			case x.Name == name:
				if x.Kind != c.want || c.scale > 0 && math.Abs(x.Value/c.scale-1) > 0.01 {
					t.Errorf("found %s with scale %v, want %s with %v", x.Kind, x.Value, c.want, c.scale)
				}
			case x.Kind != Same:
				t.Errorf("%s: %s", x.Name, x.Kind)
			}
		}
		n := Networks(left, right)
		n.Adapt(0, 3)
		if got, want := n.Get(0, name).V[5], base.v[name][5]; got == want {
			t.Errorf("the trainer's weight is the base alone: %v", got)
		}
	}
}

// TestAdapterUnread: where the weight that low-rank training adds to cannot be read, no asker learns that nothing is added.
func TestAdapterUnread(t *testing.T) {
	const name = "model.layers.0.self_attn.q_proj.weight"
	base := decoder(3)
	with := base.clone()
	delete(with.shape, name)
	delete(with.v, name)
	with.put("base_model.model.model.layers.0.self_attn.q_proj.base_layer.weight", base.v[name], 64, 32)
	with.put("base_model.model.model.layers.0.self_attn.q_proj.lora_A.default.weight", make([]float64, 4*32), 4, 32)
	with.put("base_model.model.model.layers.0.self_attn.q_proj.lora_B.default.weight", make([]float64, 64*4), 64, 4)
	left, right := with.open(t, "BF16"), base.open(t, "BF16")
	n := Networks(left, right)
	p := n.pairs[name]
	if p == nil || p.a == nil || p.a.add == nil {
		t.Fatalf("found %v, expected a pair with an adapter", p)
	}
	if err := os.Truncate(right.Path, 4000); err != nil { // behind the header, which has been read
		t.Fatal(err)
	}
	for i := range 2 {
		if kind, err := must.Of(func() Kind { return p.join(t.Context()) }); err == nil {
			t.Errorf("asked for the time %d it is %q", i+1, kind)
		}
	}
}

// TestAdapterBounds has additions that are nothing, round away, are summed up in float32, belong to weights that are not held at once, or are the
// rollout's: none is a cause, and none but nothing is the same.
func TestAdapterBounds(t *testing.T) {
	const base = "model.layers.0.mlp.up_proj"
	for _, c := range []struct {
		name       string
		typ        string
		h, w, rank int
		up, scale  float64
		turned     bool
		want       Kind
	}{
		{"zero", "F32", 64, 48, 4, 0, 2, false, Same},
		{"rounds away", "BF16", 64, 48, 4, 1e-9, 2, false, Same},
		{"may round away", "BF16", 64, 48, 4, 5e-7, 0, false, Merged},
		{"seen", "BF16", 64, 48, 4, 0.5, 0, false, Unmerged},
		{"tiny", "F32", 64, 48, 4, 0.05, 1e-3, false, Merged},
		{"taken away", "F32", 64, 48, 4, 0.05, -2, false, Merged},
		{"rank 64", "F32", 256, 256, 64, 0.05, 2, false, Merged},
		{"rank 64", "BF16", 256, 256, 64, 0.05, 2, false, Merged},
		{"large", "BF16", 4097, 4096, 1, 0.05, 2, false, Merged},
		{"of the rollout", "F32", 64, 48, 4, 0.05, 2, true, Merged},
		{"of the rollout alone", "F32", 64, 48, 4, 0.05, 0, true, Unreadable},
	} {
		round := map[string]dtype.Type{"F32": dtype.Float32, "BF16": dtype.BFloat16}[c.typ].Rounding()
		r := rand.New(rand.NewPCG(7, 1))
		random := func(n int, size float64) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = round.Round(size * r.NormFloat64())
			}
			return v
		}
		v, up, down := random(c.h*c.w, 0.02), random(c.h*c.rank, c.up), random(c.rank*c.w, 0.1)
		merged := make([]float64, len(v))
		for i := range v {
			sum := float32(0)
			for k := range c.rank {
				sum += float32(up[i/c.w*c.rank+k]) * float32(down[k*c.w+i%c.w])
			}
			merged[i] = round.Round(v[i] + round.Round(c.scale*float64(sum)))
		}
		with, plain := &tensors{map[string][]int64{}, map[string][]float64{}}, &tensors{map[string][]int64{}, map[string][]float64{}}
		with.put(base+".base_layer.weight", v, int64(c.h), int64(c.w))
		with.put(base+".lora_A.default.weight", down, int64(c.rank), int64(c.w))
		with.put(base+".lora_B.default.weight", up, int64(c.h), int64(c.rank))
		plain.put(base+".weight", merged, int64(c.h), int64(c.w))
		left, right := with.open(t, c.typ), plain.open(t, c.typ)
		if c.turned {
			left, right = right, left
		}
		rep, err := Compare(t.Context(), left, right, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := rep.Tensors[0]
		if len(rep.Tensors) != 1 || x.Kind != c.want || x.Kind == Merged && !(math.Abs(x.Value-c.scale) <= x.Spread) {
			t.Errorf("%s, %s: %d tensors, %s with scale %v, spread %v, %v; want %s with %v", c.name, c.typ, len(rep.Tensors), x.Kind, x.Value, x.Spread, x.Err, c.want, c.scale)
		}
	}
}

// TestRows reads a matrix that is not held: all rows and one by one as they were written, fused ones and cut files included.
func TestRows(t *testing.T) {
	n := decoder(3)
	for _, set := range []*checkpoint.Set{n.open(t, "F32"), fused(n, true).open(t, "F32")} {
		for _, p := range Networks(n.open(t, "F32"), set).pairs {
			m := &Matrix{Shape: p.b.shape, large: p.b.open()}
			want, got := n.v[p.Name], []float64(nil)
			if m.Rows(func(first int, v []float64) {
				if int64(first)*nd.Size(m.Shape[1:]) != int64(len(got)) {
					t.Errorf("%s: row %d behind %d elements", p.Name, first, len(got))
				}
				got = append(got, v...)
			}); !slices.Equal(got, want) {
				t.Errorf("%s: other rows", p.Name)
			}
			last := make([]float64, nd.Size(m.Shape[1:]))
			if m.Row(last, m.Shape[0]-1); !slices.Equal(last, want[len(want)-len(last):]) {
				t.Errorf("%s: another last row", p.Name)
			}
			if must.Try(func() { m.Row(last, m.Shape[0]) }) == nil {
				t.Errorf("%s: a row behind the last", p.Name)
			}
		}
	}
}
