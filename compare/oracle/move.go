package oracle

import (
	"slices"
)

// Operators that move elements and change none: bit-exact. Prototypes:
// transformation_ops.h, array_ops.h, selection_ops.h, split_combination_ops.h.

func init() {
	// Operators that are the identity in the framework's layout. A reshape is
	// in row-major order of it.
	register(single(func(c *Call) Values {
		x := c.at(0)
		if c.Type == "TransData" {
			return transData(c, x)
		}
		return c.asRecorded(x, 0)
	}), "TransData", "Reshape", "Flatten", "FlattenV2", "Squeeze", "SqueezeV2", "SqueezeV3", "ExpandDims", "ExpandDimsV2", "Unsqueeze", "UnsqueezeV2", "UnsqueezeV3", "MemcpyAsync")
	register(single(buildReadSelect), "ReadSelect")
	register(single(buildBroadcast), "BroadcastTo", "BroadcastToD", "ExpandD", "Expand", "Fill")
	register(single(buildSlice), "Slice", "SliceD", "SliceDV2")
	register(one(buildUnpack), "Unpack")
}

// transData is the identity in the framework's layout. Where source and target
// have different ones, NCHW and NHWC, the axes are reordered.
func transData(c *Call, x *operand) Values {
	if len(c.outs) > 0 && c.outs[0] != nil {
		if out := c.outs[0]; x.axes != "" && out.axes != "" && x.axes != out.axes && len(x.axes) == len(out.axes) {
			v, _ := channelsFirst(x, x.axes, out.axes)
			if slices.Equal(v.Shape(), out.shape) {
				return v
			}
		}
	}
	return c.asRecorded(x, 0)
}

// buildReadSelect takes every s-th element; stride_list counts the axes of
// NC1HWC0, and the recorded shape tells the same.
func buildReadSelect(c *Call) Values {
	x := c.at(0)
	shape, ok := c.out(0)
	if !ok {
		panic(refuse(NoOutput))
	}
	return stridedRead(x, shape)
}

func buildBroadcast(c *Call) Values {
	in := c.operands()
	if len(in) == 0 {
		panic(refuse(NoInput, "x"))
	}
	x := in[0]
	if c.Type == "Fill" {
		if len(in) != 2 {
			panic(refuse(InputCount, len(in), 2))
		}
		x = in[1]
	}
	shape, ok := c.out(0)
	if !ok {
		panic(refuse(NoOutput))
	}
	v, ok := broadcast(x, shape)
	if !ok {
		panic(refuse(ShapeComputed, shapeText(x.shape), shapeText(shape)))
	}
	return v
}

// buildSlice cuts the box of a given size, or up to the end where that is -1.
func buildSlice(c *Call) Values {
	x := c.need("x", 0)
	begin := c.listOf("offsets", 1)
	size := c.listOf("size", 2)
	if len(begin) != len(x.shape) || len(size) != len(x.shape) {
		panic(refuse(BadAttribute, "offsets, size", shapeText(begin, size), "one for each axis of "+shapeText(x.shape)))
	}
	size = slices.Clone(size)
	for i, d := range x.shape {
		if size[i] == -1 {
			size[i] = d - begin[i]
		}
		if begin[i] < 0 || size[i] < 0 || begin[i] > d || size[i] > d-begin[i] {
			panic(refuse(BadAttribute, "offsets, size", shapeText(begin, size), "inside "+shapeText(x.shape)))
		}
	}
	return c.asRecorded(cut(x, begin, size, ones(len(size))), 0)
}

// listOf is a list that comes as an attribute or as an input.
func (c *Call) listOf(key string, slot int) []int64 {
	list := c.attrInts(key)
	if list != nil {
		return list
	}
	o := c.need(key, slot)
	return ints(o)
}

// buildUnpack takes x apart along an axis.
func buildUnpack(c *Call) []Values {
	x := c.need("x", 0)
	a := c.attrInt("axis", 0)
	axes := axesOf("axis", []int64{a}, len(x.shape))
	if len(axes) != 1 {
		return nil
	}
	var out []Values
	for i := range min(x.shape[axes[0]], int64(len(c.outs))) {
		begin, shape := make([]int64, len(x.shape)), slices.Clone(x.shape)
		begin[axes[0]], shape[axes[0]] = i, 1
		v := c.asRecorded(cut(x, begin, shape, ones(len(shape))), int(i))
		out = append(out, v)
	}
	return out
}
