package oracle

import "slices"

// piece is a part of an output and what it is made of: elements from inLo on of the input of
// the member from, or of all members where from is everyone.
type piece struct {
	outLo, n int64
	from     int
	inLo     int64
}

const everyone = -1

// reduces are the collectives that make one number of those of all ranks.
var reduces = map[string]bool{"HcomAllReduce": true, "HcomReduceScatter": true}

// pieces tell of each type what the output of a member is made of, in a group of size
// members with inputs of in and outputs of out elements; nil where the sizes do not go together.
var pieces = map[string]func(size, member, root int, in, out int64) []piece{
	"HcomAllReduce": func(_, _, _ int, in, out int64) []piece {
		if in != out {
			return nil
		}
		return []piece{{0, out, everyone, 0}}
	},
	"HcomReduceScatter": func(size, member, _ int, in, out int64) []piece {
		if in != out*int64(size) {
			return nil
		}
		return []piece{{0, out, everyone, int64(member) * out}}
	},
	"HcomAllGather": func(size, _, _ int, in, out int64) []piece {
		if out != in*int64(size) {
			return nil
		}
		list := make([]piece, size)
		for k := range list {
			list[k] = piece{int64(k) * in, in, k, 0}
		}
		return list
	},
	"HcomBroadcast": func(size, _, root int, in, out int64) []piece {
		if in != out || root < 0 || root >= size {
			return nil
		}
		return []piece{{0, out, root, 0}}
	},
	"HcomAllToAll": allToAll,
	"HcomAlltoAll": allToAll,
}

func allToAll(size, member, _ int, in, out int64) []piece {
	if in != out || in%int64(size) != 0 {
		return nil
	}
	block := in / int64(size)
	list := make([]piece, size)
	for k := range list {
		list[k] = piece{int64(k) * block, block, k, int64(member) * block}
	}
	return list
}

// partition is a way to put members into groups: each a list of places in meeting.ends.
type partition struct {
	groups [][]int
	how    string
}

// partitions are the ways there may be, the likeliest first. The graph may name the group of all ranks, or
// how many belong together; else shapes tell that, or nothing does and each divisor of the number of ranks
// is tried, in blocks of neighbours and at equal strides.
func (m *meeting) partitions(in, out int64) []partition {
	n := len(m.ends)
	whole := partition{[][]int{span(n)}, GroupAll}
	world := false
	if name := m.attribute("group"); name == "hccl_world_group" || name == "hcom_world_group" {
		whole.how, world = GroupAttribute, true
	}
	size, how := 0, GroupShapes
	switch {
	case m.kind == "HcomAllGather" && in > 0 && out%in == 0:
		size = int(min(out/in, int64(n)+1))
	case m.kind == "HcomReduceScatter" && out > 0 && in%out == 0:
		size = int(min(in/out, int64(n)+1))
	default:
		if k, ok := m.number("rank_size"); ok && k > 0 {
			size, how = int(min(k, int64(n)+1)), GroupAttribute
		}
	}
	if size == n && !world {
		whole.how = how
	}
	if size == n || world && size == 0 {
		return []partition{whole}
	}
	if size > 0 {
		return m.split(n, size, how)
	}
	list := []partition{whole}
	for size := n / 2; size >= 2; size-- {
		list = append(list, m.split(n, size, GroupValues)...)
	}
	return list
}

// split puts n members into groups of a size: of neighbours, of members that are a stride apart within
// a block, as of the data-parallel ranks where others are tensor and pipeline parallel, and across all.
func (m *meeting) split(n, size int, how string) (list []partition) {
	if size < 2 || n%size != 0 {
		return nil
	}
	count := n / size
	for stride := 1; stride <= count; stride++ {
		if count%stride != 0 {
			continue
		}
		groups := make([][]int, count)
		for i := range n {
			g := i/(size*stride)*stride + i%stride
			groups[g] = append(groups[g], i)
		}
		list = append(list, partition{groups, how})
	}
	return list
}

func span(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// tried is how many elements of an output groups are told apart by, at each of so many
// spots.
const (
	tried = 64
	spots = 8
)

// choose takes the first partition whose groups explain all outputs on a few elements, or
// else the one that explains most.
func (m *meeting) choose(list []partition, tensor int, p precisionOf) (partition, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	best, most := 0, -1
	for k, part := range list {
		fits := 0
		for _, g := range part.groups {
			j, err := m.judge(g, tensor, p, tried)
			if err != nil {
				return partition{}, err
			}
			for i := range j {
				if j[i] != nil && j[i].beyond == 0 && j[i].judged > 0 {
					fits++
				}
			}
		}
		if fits > most {
			best, most = k, fits
		}
		if fits == len(m.ends) {
			break
		}
	}
	chosen := list[best]
	if chosen.how == GroupAll && most < len(m.ends) {
		return chosen, nil
	}
	if chosen.how != GroupAll || best > 0 {
		chosen.how = GroupValues
	}
	return chosen, nil
}

// ranksOf are the ranks of places.
func (m *meeting) ranksOf(places []int) []int {
	ranks := make([]int, len(places))
	for i, p := range places {
		ranks[i] = m.ends[p].Rank
	}
	slices.Sort(ranks)
	return ranks
}
