package oracle

import (
	"slices"
)

// Operators that move elements and change none: bit-exact. Prototypes:
// transformation_ops.h, array_ops.h, selection_ops.h, split_combination_ops.h.

func init() {
	// Operators that are the identity in the framework's layout. A reshape is
	// in row-major order of it.
	register(single(func(c *Call) (Values, error) {
		x, err := c.at(0)
		if err != nil {
			return nil, err
		}
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
func transData(c *Call, x *operand) (Values, error) {
	if len(c.outs) > 0 && c.outs[0] != nil {
		if out := c.outs[0]; x.axes != "" && out.axes != "" && x.axes != out.axes && len(x.axes) == len(out.axes) {
			v, _, err := channelsFirst(x, x.axes, out.axes)
			if err != nil {
				return nil, err
			}
			if slices.Equal(v.Shape(), out.shape) {
				return v, nil
			}
		}
	}
	return c.asRecorded(x, 0)
}

// buildReadSelect takes every s-th element; stride_list counts the axes of
// NC1HWC0, and the recorded shape tells the same.
func buildReadSelect(c *Call) (Values, error) {
	x, err := c.at(0)
	if err != nil {
		return nil, err
	}
	shape, ok := c.out(0)
	if !ok {
		return nil, refuse(NoOutput)
	}
	return stridedRead(x, shape)
}

func buildBroadcast(c *Call) (Values, error) {
	in := c.operands()
	if len(in) == 0 {
		return nil, refuse(NoInput, "x")
	}
	x := in[0]
	if c.Type == "Fill" {
		if len(in) != 2 {
			return nil, refuse(InputCount, len(in), 2)
		}
		x = in[1]
	}
	shape, ok := c.out(0)
	if !ok {
		return nil, refuse(NoOutput)
	}
	v, ok := broadcast(x, shape)
	if !ok {
		return nil, refuse(ShapeComputed, shapeText(x.shape), shapeText(shape))
	}
	return v, nil
}

// buildSlice cuts the box of a given size, or up to the end where that is -1.
func buildSlice(c *Call) (Values, error) {
	x, err := c.need("x", 0)
	if err != nil {
		return nil, err
	}
	begin, err := c.listOf("offsets", 1)
	if err != nil {
		return nil, err
	}
	size, err := c.listOf("size", 2)
	if err != nil {
		return nil, err
	}
	if len(begin) != len(x.shape) || len(size) != len(x.shape) {
		return nil, refuse(BadAttribute, "offsets, size", shapeText(begin, size), "one for each axis of "+shapeText(x.shape))
	}
	size = slices.Clone(size)
	for i, d := range x.shape {
		if size[i] == -1 {
			size[i] = d - begin[i]
		}
		if begin[i] < 0 || size[i] < 0 || begin[i] > d || size[i] > d-begin[i] {
			return nil, refuse(BadAttribute, "offsets, size", shapeText(begin, size), "inside "+shapeText(x.shape))
		}
	}
	return c.asRecorded(cut(x, begin, size, ones(len(size))), 0)
}

// listOf is a list that comes as an attribute or as an input.
func (c *Call) listOf(key string, slot int) ([]int64, error) {
	list, err := c.intsAttr(key)
	if err != nil || list != nil {
		return list, err
	}
	o, err := c.need(key, slot)
	if err != nil {
		return nil, refuse(NoAttribute, key)
	}
	return ints(o)
}

// buildUnpack takes x apart along an axis.
func buildUnpack(c *Call) ([]Values, error) {
	x, err := c.need("x", 0)
	if err != nil {
		return nil, err
	}
	a := c.attrInt("axis", 0)
	axes, err := axesOf("axis", []int64{a}, len(x.shape))
	if err != nil || len(axes) != 1 {
		return nil, err
	}
	var out []Values
	for i := range min(x.shape[axes[0]], int64(len(c.outs))) {
		begin, shape := make([]int64, len(x.shape)), slices.Clone(x.shape)
		begin[axes[0]], shape[axes[0]] = i, 1
		v, err := c.asRecorded(cut(x, begin, shape, ones(len(shape))), int(i))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
