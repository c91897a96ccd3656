package oracle

func init() {
	register(single(buildStridedSlice), "StridedSlice", "StridedSliceD", "StridedSliceV2")
}

// maskBit is bit i of a mask.
func maskBit(mask int64, i int) bool { return i < 63 && mask>>i&1 == 1 }

// buildStridedSlice follows TensorFlow's rules: entry i of begin, end and
// strides is for one axis, but an ellipsis stands for as many as are missing, a
// new axis for none, and a shrunk one is dropped. Bit i of a mask is for entry i.
func buildStridedSlice(c *Call) Values {
	x := c.need("x", 0)
	begin := c.listOf("begin", 1)
	end := c.listOf("end", 2)
	strides := c.attrInts("strides")
	if strides == nil {
		if o := c.input("strides", 3); o != nil {
			strides = ints(o)
		} else {
			strides = ones(len(begin))
		}
	}
	var mask [5]int64
	for i, key := range []string{"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"} {
		mask[i] = c.attrInt(key, 0)
	}
	rank := len(x.shape)
	if len(begin) != len(end) || len(begin) != len(strides) || len(begin) > maxRank {
		panic(refuse(BadAttribute, "begin, end, strides", shapeText(begin, end, strides), "lists of one length"))
	}
	b, shape, step := make([]int64, rank), append([]int64{}, x.shape...), ones(rank)
	axis, used := 0, 0
	for i := range begin { // axes that entries name
		if !maskBit(mask[3], i) && !maskBit(mask[2], i) {
			used++
		}
	}
	for i := range begin {
		switch {
		case maskBit(mask[2], i):
			axis += max(rank-used, 0)
			continue
		case maskBit(mask[3], i):
			continue
		case axis >= rank:
			panic(refuse(BadAttribute, "begin", shapeText(begin), "at most one for each axis of "+shapeText(x.shape)))
		}
		b[axis], shape[axis] = sliceOf(begin[i], end[i], strides[i], x.shape[axis], maskBit(mask[0], i), maskBit(mask[1], i),
			maskBit(mask[4], i))
		step[axis] = strides[i]
		axis++
	}
	// Dropped and new axes have one element: the recorded shape says where.
	return c.asRecorded(cut(x, b, shape, step), 0)
}

// sliceOf is where a slice of an axis of d elements begins and how many it has.
func sliceOf(begin, end, stride, d int64, openBegin, openEnd, shrink bool) (from, n int64) {
	if stride == 0 || !within(stride, -1<<31, 1<<31) || !within(begin, -1<<40, 1<<40) {
		panic(refuse(BadAttribute, "strides", stride, "not 0"))
	}
	norm := func(i int64) int64 {
		if i < 0 {
			i += d
		}
		if stride > 0 {
			return min(max(i, 0), d)
		}
		return min(max(i, -1), d-1)
	}
	if shrink {
		if begin < 0 {
			begin += d
		}
		if begin < 0 || begin >= d {
			panic(refuse(BadAttribute, "begin", begin, "inside "+itoa(int(d))))
		}
		return begin, 1
	}
	from, to := norm(begin), norm(end)
	if openBegin {
		if from = 0; stride < 0 {
			from = d - 1
		}
	}
	if openEnd {
		if to = d; stride < 0 {
			to = -1
		}
	}
	if stride > 0 {
		return from, max((to-from+stride-1)/stride, 0)
	}
	return from, max((from-to-stride-1)/-stride, 0)
}
