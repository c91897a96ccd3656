package computed

import "fmt"

// mobilenet classifies pictures with depthwise convolutions.
func mobilenet(b *builder) {
	w, batch, side := of(b, 16, 12, 24, 33)*b.size, of(b, 1, 2), of(b, 16, 12, 14)
	x := b.image("input", batch, 3, side, side)
	x = b.conv("stem", x, w, 3, 2, "Relu6")
	for i, stride := range []int{1, 2, 1} {
		scope := fmt.Sprintf("block_%d", i)
		in := x
		y := b.conv(scope+"/expand", x, 2*w, 1, 1, "")
		y = b.like(scope+"/expand/Relu6", "Relu6", attrs{}, y)
		y = b.convolution(scope+"/depthwise", "DepthwiseConv2D", y, 2*w, 3, stride, "")
		y = b.like(scope+"/depthwise/Relu6", "Relu6", attrs{}, y)
		y = b.conv(scope+"/project", y, w, 1, 1, "")
		if stride == 1 {
			y = b.like(scope+"/add", "Add", attrs{}, y, in)
		}
		x = y
	}
	x = b.conv("head", x, 3*w, 1, 1, "Relu6")
	x = b.reduce("global_pool/Mean", "ReduceMeanD", b.layout(x, "NCHW"), false, 2, 3)
	x = b.layout(b.dense("logits", x, 10, true, ""), "ND")
	p := b.like("Softmax", "SoftmaxV2", attrs{"axes": []int{-1}}, x)
	b.results = []string{b.cast(p, f32), b.op("ArgMax", "ArgMaxD", []string{p}, []spec{{i32, "ND", []int{batch}}}, attrs{"dimension": 1})}
}

// unet segments pictures: down, up again, and the two joined.
func unet(b *builder) {
	w, batch, side := of(b, 16, 12, 20)*b.size, of(b, 1, 2), of(b, 16, 12)
	x := b.image("input", batch, 3, side, side)
	double := func(scope string, x string, out int) string {
		x = b.conv(scope+"/conv1", x, out, 3, 1, "Relu")
		x = b.conv(scope+"/conv2", x, out, 3, 1, "")
		return b.like(scope+"/Relu", "Relu", attrs{}, x)
	}
	down := func(scope, x string) string {
		s := b.tensors[x]
		s.shape = []int{s.shape[0], s.shape[1], s.shape[2] / 2, s.shape[3] / 2}
		return b.op(scope+"/MaxPool", "MaxPool", []string{x}, []spec{s}, attrs{"ksize": []int{1, 1, 2, 2}, "strides": []int{1, 1, 2, 2}, "padding": "VALID", "data_format": "NCHW"})
	}
	join := func(scope, x, y string) string {
		return b.layout(b.concat(scope+"/concat", 1, b.layout(x, "NCHW"), b.layout(y, "NCHW")), "NC1HWC0")
	}
	first := double("down1", x, w)
	second := double("down2", down("down1", first), w)
	x = double("bottom", down("down2", second), 2*w)
	// up by interpolation, and by a transposed convolution
	s := b.tensors[x]
	s.shape = []int{batch, s.shape[1], s.shape[2] * 2, s.shape[3] * 2}
	x = b.op("up2/resize", "ResizeNearestNeighborV2D", []string{x}, []spec{s}, attrs{"size": s.shape[2:], "align_corners": false, "half_pixel_centers": false})
	x = double("up2", join("up2", x, second), w)
	s = b.tensors[x]
	s.shape = []int{batch, w, s.shape[2] * 2, s.shape[3] * 2}
	filter := b.weight("up1/deconv/kernel", f16, "FRACTAL_Z", 0.2, 0, w, w, 2, 2)
	x = b.op("up1/deconv", "Conv2DTransposeD", []string{x, filter}, []spec{s}, attrs{"input_size": s.shape, "strides": []int{1, 1, 2, 2},
		"pads": []int{0, 0, 0, 0}, "dilations": []int{1, 1, 1, 1}, "groups": 1, "data_format": "NCHW", "output_padding": []int{0, 0, 0, 0}, "offset_x": 0})
	x = double("up1", join("up1", x, first), w)
	x = b.layout(b.conv("mask", x, 2, 1, 1, ""), "NCHW")
	p := b.like("mask/Sigmoid", "Sigmoid", attrs{}, x)
	half := b.constant("mask/threshold", f16, scalarOf(0.5))
	sure := b.like("mask/Greater", "Greater", attrs{}, p, half)
	x1 := b.nodes[len(b.nodes)-1]
	x1.outputs[0].dtype = flag
	b.tensors[sure] = x1.outputs[0]
	s = b.tensors[sure]
	s.dtype = i32
	mask := b.op("mask/Cast", "Cast", []string{sure}, []spec{s}, castAttrs(flag, i32))
	classes := b.op("mask/ArgMax", "ArgMaxD", []string{p}, []spec{{i32, "ND", []int{batch, side, side}}}, attrs{"dimension": 1})
	b.results = []string{b.cast(p, f32), mask, classes}
}
