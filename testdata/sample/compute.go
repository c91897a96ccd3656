package main

import (
	"math"
	"slices"

	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// value is a tensor of the framework: float32 in its own axis order.
type value struct {
	data  []float32
	shape []int64
	axes  string // NCHW, NHWC, NCDHW or ND
}

func blank(axes string, shape ...int64) value {
	count := int64(1)
	for _, d := range shape {
		count *= d
	}
	return value{make([]float32, count), shape, axes}
}

// to is v with its axes in another order.
func (v value) to(axes string) value {
	if v.axes == axes {
		return v
	}
	perm := make([]int, len(axes))
	for i := range axes {
		perm[i] = slices.Index([]byte(v.axes), axes[i])
	}
	data, shape := dumptest.Transpose(v.data, v.shape, perm...)
	return value{data, shape, axes}
}

// as is v under another shape of as many elements.
func (v value) as(axes string, shape ...int64) value { return value{v.data, shape, axes} }

// rounded is v as an element type holds it.
func (v value) rounded(element int) value {
	if element == dumptest.Float16 {
		data := make([]float32, len(v.data))
		dtype.Widen32(dtype.Float16, data, dumptest.Halves(v.data))
		v.data = data
	}
	return v
}

// kernel computes an operator in float32. Products are rounded before they are
// added, so that all machines write the same files.
type kernel func(in []value) value

func same(in []value) value { return in[0] }

// reshape gives a tensor another shape.
func reshape(shape ...int64) kernel {
	return func(in []value) value { return in[0].as("ND", shape...) }
}

// conv convolves one image with stride 1; pads are of depth, height and width.
// A filter with depth gives an image with depth. in is x, w and maybe a bias.
func conv(axes string, pads [3]int64) kernel {
	return func(in []value) value {
		x, w := in[0], in[1]
		if x.axes == "NHWC" {
			x = x.to("NCHW")
		}
		xs, ws := spatial(x.shape), spatial(w.shape)
		c, o := x.shape[1], w.shape[0]
		var out [3]int64
		for i := range out {
			out[i] = xs[i] + 2*pads[i] - ws[i] + 1
		}
		y := blank("NCDHW", 1, o, out[0], out[1], out[2])
		for i := range y.data {
			k := int64(i)
			at := [3]int64{k / (out[1] * out[2]) % out[0], k / out[2] % out[1], k % out[2]}
			filter := k / (out[0] * out[1] * out[2])
			var sum float32
			for j := range c * ws[0] * ws[1] * ws[2] {
				d, h, b := j/(ws[1]*ws[2])%ws[0]+at[0]-pads[0], j/ws[2]%ws[1]+at[1]-pads[1], j%ws[2]+at[2]-pads[2]
				if d < 0 || d >= xs[0] || h < 0 || h >= xs[1] || b < 0 || b >= xs[2] {
					continue
				}
				channel := j / (ws[0] * ws[1] * ws[2])
				product := float32(x.data[((channel*xs[0]+d)*xs[1]+h)*xs[2]+b] * w.data[filter*c*ws[0]*ws[1]*ws[2]+j])
				sum += product
			}
			if len(in) > 2 {
				sum += in[2].data[filter]
			}
			y.data[i] = sum
		}
		if len(w.shape) == 4 {
			y = y.as("NCHW", 1, o, out[1], out[2]).to(axes)
		}
		return y
	}
}

// spatial are depth, height and width of a tensor N, C, (D,) H, W.
func spatial(shape []int64) [3]int64 {
	if len(shape) == 5 {
		return [3]int64(shape[2:])
	}
	return [3]int64{1, shape[2], shape[3]}
}

// relu goes behind a kernel it is fused with.
func relu(before kernel) kernel {
	return func(in []value) value {
		y := before(in)
		for i, x := range y.data {
			y.data[i] = max(x, 0)
		}
		return y
	}
}

// maxPool takes the largest of every 2 by 2.
func maxPool(in []value) value {
	x := in[0]
	h, w := x.shape[2]/2, x.shape[3]/2
	y := blank("NCHW", 1, x.shape[1], h, w)
	for i := range y.data {
		k := int64(i)
		corner := (k/(h*w)*2*h+k/w%h*2)*2*w + k%w*2
		y.data[i] = max(x.data[corner], x.data[corner+1], x.data[corner+2*w], x.data[corner+2*w+1])
	}
	return y
}

// channels takes some channels of an image.
func channels(from, count int64) kernel {
	return func(in []value) value {
		x := in[0]
		plane := x.shape[2] * x.shape[3]
		return value{x.data[from*plane : (from+count)*plane], []int64{1, count, x.shape[2], x.shape[3]}, "NCHW"}
	}
}

// join puts the channels of images one behind the other.
func join(in []value) value {
	y := value{axes: "NCHW", shape: slices.Clone(in[0].shape)}
	y.shape[1] = 0
	for _, x := range in {
		y.data = append(y.data, x.data...)
		y.shape[1] += x.shape[1]
	}
	return y
}

// perChannel applies f to each element and the number of its channel.
func perChannel(f func(x, c float32) float32) kernel {
	return func(in []value) value {
		x := in[0]
		y := blank(x.axes, x.shape...)
		plane := len(x.data) / int(x.shape[1])
		for i := range y.data {
			y.data[i] = f(x.data[i], in[1].data[i/plane])
		}
		return y
	}
}

// matmul is x1·x2 + bias.
func matmul(in []value) value {
	m, k, n := in[0].shape[0], in[0].shape[1], in[1].shape[1]
	y := blank("ND", m, n)
	for i := range m {
		for j := range n {
			var sum float32
			for l := range k {
				product := float32(in[0].data[i*k+l] * in[1].data[l*n+j])
				sum += product
			}
			y.data[i*n+j] = sum + in[2].data[j]
		}
	}
	return y
}

// softmax is taken of each row.
func softmax(in []value) value {
	y := blank("ND", in[0].shape...)
	n := int(y.shape[1])
	for at := 0; at < len(y.data); at += n {
		row, out := in[0].data[at:at+n], y.data[at:at+n]
		largest, sum := slices.Max(row), float32(0)
		for i, x := range row {
			out[i] = float32(math.Exp(float64(x - largest)))
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
	}
	return y
}

// argMax says where the largest element of each row is.
func argMax(in []value) value {
	y, n := blank("ND", in[0].shape[0]), int(in[0].shape[1])
	for i := range y.data {
		row := in[0].data[i*n : (i+1)*n]
		y.data[i] = float32(slices.Index(row, slices.Max(row)))
	}
	return y
}

// mean is taken over all elements.
func mean(in []value) value {
	y := blank("ND")
	for _, x := range in[0].data {
		y.data[0] += x
	}
	y.data[0] /= float32(len(in[0].data))
	return y
}
