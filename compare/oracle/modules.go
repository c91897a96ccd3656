package oracle

import (
	"slices"
	"strings"

	"precision/dump/msprobe"
)

// module is a class of torch.nn that calls one function.
type module struct {
	function string
	// hidden are the arguments of the function that the module keeps to itself.
	hidden string
}

// modules are the classes that can be recomputed, from their inputs, parameters and
// what the call within them was given.
var modules = map[string]module{
	"Linear": {"linear", ""}, "Dense": {"linear", ""}, "NonDynamicallyQuantizableLinear": {"linear", ""}, "Embedding": {"embedding", ""},
	"Conv1d": {"conv1d", "stride padding dilation groups"}, "Conv2d": {"conv2d", "stride padding dilation groups"},
	"Conv3d":          {"conv3d", "stride padding dilation groups"},
	"ConvTranspose1d": {"conv_transpose1d", "stride padding output_padding groups dilation"},
	"ConvTranspose2d": {"conv_transpose2d", "stride padding output_padding groups dilation"},
	"ConvTranspose3d": {"conv_transpose3d", "stride padding output_padding groups dilation"},
	"LayerNorm":       {"Functional.layer_norm", "normalized_shape eps"}, "RMSNorm": {"rms_norm", "normalized_shape eps"},
	"GroupNorm": {"group_norm", "num_groups eps"}, "BatchNorm1d": {"Functional.batch_norm", "running_mean running_var training eps"},
	"BatchNorm2d": {"Functional.batch_norm", "running_mean running_var training eps"},
	"BatchNorm3d": {"Functional.batch_norm", "running_mean running_var training eps"},
	"ReLU":        {"relu", ""}, "ReLU6": {"relu6", ""}, "GELU": {"gelu", "approximate"}, "SiLU": {"silu", ""}, "Sigmoid": {"sigmoid", ""},
	"Tanh": {"tanh", ""}, "Mish": {"mish", ""}, "LeakyReLU": {"leaky_relu", "negative_slope"}, "ELU": {"elu", "alpha"}, "SELU": {"selu", ""},
	"Hardswish": {"hardswish", ""}, "Hardsigmoid": {"hardsigmoid", ""}, "Hardtanh": {"hardtanh", "min_val max_val"},
	"Softplus": {"softplus", "beta threshold"}, "Softsign": {"softsign", ""}, "LogSigmoid": {"logsigmoid", ""}, "PReLU": {"prelu", ""},
	"Softmax": {"Functional.softmax", "dim"}, "LogSoftmax": {"Functional.log_softmax", "dim"}, "Dropout": {"dropout", "p training"},
	"MaxPool1d": {"max_pool1d", "kernel_size stride padding dilation ceil_mode"}, "MaxPool2d": {"max_pool2d", "kernel_size stride padding dilation ceil_mode"},
	"MaxPool3d": {"max_pool3d", "kernel_size stride padding dilation ceil_mode"},
	"AvgPool1d": {"avg_pool1d", "kernel_size stride padding ceil_mode count_include_pad"},
	"AvgPool2d": {"avg_pool2d", "kernel_size stride padding ceil_mode count_include_pad divisor_override"},
	"AvgPool3d": {"avg_pool3d", "kernel_size stride padding ceil_mode count_include_pad divisor_override"},
	// The size of the result is that of the recorded output.
	"AdaptiveAvgPool1d": {"adaptive_avg_pool1d", ""}, "AdaptiveAvgPool2d": {"adaptive_avg_pool2d", ""}, "AdaptiveAvgPool3d": {"adaptive_avg_pool3d", ""},
	"AdaptiveMaxPool1d": {"adaptive_max_pool1d", ""}, "AdaptiveMaxPool2d": {"adaptive_max_pool2d", ""}, "AdaptiveMaxPool3d": {"adaptive_max_pool3d", ""},
	"Flatten": {"flatten", "start_dim end_dim"}, "Identity": {"clone", ""}, "CrossEntropyLoss": {"cross_entropy", "weight ignore_index reduction label_smoothing"},
	"NLLLoss": {"nll_loss", "weight ignore_index reduction"}, "MSELoss": {"mse_loss", "reduction"}, "L1Loss": {"l1_loss", "reduction"},
	"SmoothL1Loss": {"smooth_l1_loss", "reduction beta"}, "BCELoss": {"binary_cross_entropy", "weight reduction"},
	"BCEWithLogitsLoss": {"binary_cross_entropy_with_logits", "weight reduction pos_weight"},
}

// resolveModule makes a call of a function of that of a module: its inputs are the
// module's, its weights the module's parameters, and other arguments those of the
// one call of the function within it, as far as that was recorded.
func (b *bound) resolveModule(from *recordedCall, r *recorded) error {
	m, ok := modules[from.Parsed.Class]
	if !ok {
		if b.unguessed = refuse(NoAPI, from.kind()); len(b.of.inside[from.Name]) > 0 {
			b.unguessed = refuse(Composite, len(b.of.inside[from.Name]))
		}
		if b.guesses = b.guessModule(r); len(b.guesses) == 0 {
			return b.unguessed
		}
		g := b.guesses[0]
		b.f, b.inputs, b.k = g.f, g.inputs, &invocation{name: g.name, args: g.args, params: g.f.params}
		return nil
	}
	f := functions[m.function]
	args, inPlace := map[string]*argument{}, false
	if child := b.within(from, f); child != nil {
		inner := recordedOf(child.Call)
		var err error
		if args, inPlace, err = bind(f, inner, false); err != nil {
			return err
		}
		for name, a := range args {
			if a.tensor() && !slices.Contains(strings.Fields(m.hidden), name) && name != "target" {
				delete(args, name) // the module's own are taken
			}
		}
		b.openInputs(inner)
	} else {
		b.hidden = strings.Fields(m.hidden)
	}
	for i, a := range r.args {
		if i >= len(f.params) {
			return refuse(NewArgument, itoa(i))
		}
		args[f.params[i]] = a
	}
	for name, a := range r.parameters {
		if to := msprobe.ParameterNames[name]; to != "" && !slices.Contains(f.params, name) {
			name = to
		}
		if !slices.Contains(f.params, name) {
			return refuse(NewArgument, name)
		}
		args[name] = a
	}
	for name, a := range r.kwargs {
		if !slices.Contains(f.params, name) {
			return refuse(NewArgument, name)
		}
		args[name] = a
	}
	b.f, b.inputs = f, f.params[:min(len(f.params), max(len(r.args), 1))]
	b.k = &invocation{name: m.function, args: args, params: f.params, inPlace: inPlace}
	b.k.solve = len(b.hidden) > 0
	return nil
}

// within is the one call of a function within a module; nil if there is none, or
// more than one.
func (b *bound) within(from *recordedCall, f *function) *recordedCall {
	var found *recordedCall
	for _, name := range b.of.inside[from.Name] {
		c := b.of.index[name]
		if c == nil || c.Parsed.Form != msprobe.API {
			continue
		}
		if g, _, _, _ := called(c.Parsed.Prefix, c.Parsed.API, b.of.header.Framework); g == f {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}
