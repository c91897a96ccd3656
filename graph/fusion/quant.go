package fusion

import (
	"cmp"
	"strings"

	"precision/graph"
)

// quantClass says what an output carries with respect to quantisation.
type quantClass uint8

const (
	quantNormal quantClass = iota // outside any quantised section
	quantMiddle                   // inside one
	quantStart                    // quantised by this operator
	quantFinish                   // dequantised by this operator
)

var (
	quantizerNames   = []string{"_quant_layer", "/AscendQuant", "/AscendWeightQuant", ".quant", ".weight_quant"}
	dequantizerNames = []string{"_dequant_layer", "_anti_quant_layer", "/AscendDequant", "/AntiQuant", ".dequant", ".anti_quant"}
)

func quantKind(name string) (quantizer, dequantizer bool) {
	for _, s := range quantizerNames {
		quantizer = quantizer || strings.Contains(name, s)
	}
	for _, s := range dequantizerNames {
		dequantizer = dequantizer || strings.Contains(name, s)
	}
	return
}

// filterQuantized marks the operators between quantisers and dequantisers. It walks the operators by id, so an
// operator's producers come before it.
func (r *Rules) filterQuantized() {
	classes := map[*Op][]quantClass{} // per output descriptor, of operators whose outputs are not all normal
	for _, o := range r.Ops {
		inside := false
		for i, e := range o.Inputs {
			p := r.fed[int(o.fedAt)+i]
			if p == nil || e.Index < 0 || int(e.Index) >= len(classes[p]) {
				continue
			}
			if c := classes[p][e.Index]; c == quantStart || c == quantMiddle {
				inside = true
				break
			}
		}
		quantizer, dequantizer := quantKind(o.Name)
		if !quantizer && !dequantizer {
			quantizer, dequantizer = quantKind(strings.Join(o.OriginNames, ""))
		}
		rest := quantNormal
		if inside {
			rest = quantMiddle
		}
		if !inside && !quantizer && !dequantizer {
			continue
		}
		all := true
		of := make([]quantClass, len(o.Op.OutputDesc))
		for i := range o.Op.OutputDesc {
			c := rest
			switch dt := o.Op.OutputDesc[i].DType; {
			case quantizer && dt == "DT_INT8":
				c = quantStart
			case dequantizer && dt == "DT_FLOAT16":
				c = quantFinish
			case quantizer || dequantizer:
				dt = cmp.Or(dt, graph.Undefined)
				r.note(graph.Warning{Path: r.Path, Line: o.Op.Line, Offset: -1,
					Msg: graph.Messagef("op %s quantises or dequantises by its name, but has an output of type %s", o.Name, dt)})
			}
			of[i] = c
			all = all && c == quantFinish
		}
		o.Filtered = inside && !all
		classes[o] = of
	}
}
