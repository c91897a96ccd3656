package recording

import "slices"

// subsequence finds what two sequences have in common: the longest common subsequence in
// the linear space and the time of E. Myers, "An O(ND) Difference Algorithm and Its Variations"
// (1986): edits are searched from both ends until they meet, then each half by itself.
// Where that takes more edits than most it goes on from the farthest place that was reached, so that
// the time stays near linear and the result may be shorter than the longest.
type subsequence struct {
	x, y []int32
	// pair gets, of every place of x, that in y, or -1.
	pair []int32
	// most is how many edits are looked for from each end.
	most int
	// exact tells that most was not reached: nothing longer is common.
	exact bool
	// strict gives up where most is reached, and pairs no more.
	strict bool
	// steps counts the places that were looked at.
	steps int
	// The farthest places of each diagonal, forward and backward, from diagonal -len(y)-1 on.
	ahead, back []int32
}

// newSubsequence pairs nothing yet.
func newSubsequence(x, y []int32) *subsequence {
	c := &subsequence{x: x, y: y, pair: make([]int32, len(x)), most: max(leastEdits, (len(x)+len(y))/mostApart/2), exact: true}
	for i := range c.pair {
		c.pair[i] = -1
	}
	return c
}

// count is the number of pairs.
func (c *subsequence) count() (n int) {
	for _, k := range c.pair {
		if k >= 0 {
			n++
		}
	}
	return n
}

// hopeless tells of sequences that most is sure to be reached for: an edit changes three
// neighbourships at most (E. Ukkonen, "Approximate string-matching with q-grams and maximal matches", 1992).
func (c *subsequence) hopeless() bool {
	surplus := map[[2]int32]int{}
	for i := 1; i < len(c.x); i++ {
		surplus[[2]int32{c.x[i-1], c.x[i]}]++
	}
	for j := 1; j < len(c.y); j++ {
		surplus[[2]int32{c.y[j-1], c.y[j]}]--
	}
	changed := 0
	for _, n := range surplus {
		changed += max(n, -n)
	}
	return changed > 3*2*c.most
}

// find pairs x[i:m] with y[j:n].
func (c *subsequence) find(i, m, j, n int) {
	for {
		for i < m && j < n && c.x[i] == c.y[j] {
			c.pair[i] = int32(j)
			i, j = i+1, j+1
		}
		for i < m && j < n && c.x[m-1] == c.y[n-1] {
			m, n = m-1, n-1
			c.pair[m] = int32(n)
		}
		if i == m || j == n {
			return
		}
		k, l := c.middle(i, m, j, n)
		if c.strict && !c.exact {
			return
		}
		c.find(i, k, j, l)
		i, j = k, l
	}
}

// middle is a place on a path of the fewest edits between the corners (i, j) and (m, n).
func (c *subsequence) middle(i, m, j, n int) (int, int) {
	whole := c.ahead == nil // the first look is at all of both
	if whole {
		c.ahead, c.back = make([]int32, len(c.x)+len(c.y)+3), make([]int32, len(c.x)+len(c.y)+3)
	}
	zero := len(c.y) + 1 // of diagonal 0
	f, b := c.ahead, c.back
	const none, beyond = -1, int32(1<<31 - 1)
	lowest, highest := i-n, m-j // diagonals
	first, last := i-j, m-n
	fmin, fmax, bmin, bmax := first, first, last, last
	odd := (first-last)&1 != 0
	f[zero+first], b[zero+last] = int32(i), int32(m)
	for edits := 1; ; edits++ {
		if fmin > lowest {
			fmin--
			f[zero+fmin-1] = none
		} else {
			fmin++
		}
		if fmax < highest {
			fmax++
			f[zero+fmax+1] = none
		} else {
			fmax--
		}
		for d := fmax; d >= fmin; d -= 2 {
			at := max(int(f[zero+d-1])+1, int(f[zero+d+1]))
			k := at
			for l := k - d; k < m && l < n && c.x[k] == c.y[l]; l++ {
				k++
			}
			c.steps += 1 + k - at
			f[zero+d] = int32(k)
			if odd && bmin <= d && d <= bmax && int(b[zero+d]) <= k {
				return k, k - d
			}
		}
		if bmin > lowest {
			bmin--
			b[zero+bmin-1] = beyond
		} else {
			bmin++
		}
		if bmax < highest {
			bmax++
			b[zero+bmax+1] = beyond
		} else {
			bmax--
		}
		for d := bmax; d >= bmin; d -= 2 {
			at := min(int(b[zero+d-1]), int(b[zero+d+1])-1)
			k := at
			for l := k - d; i < k && j < l && c.x[k-1] == c.y[l-1]; l-- {
				k--
			}
			c.steps += 1 + at - k
			b[zero+d] = int32(k)
			if !odd && fmin <= d && d <= fmax && k <= int(f[zero+d]) {
				return k, k - d
			}
		}
		if edits < c.most && !(whole && c.strict && edits == leastEdits && c.hopeless()) {
			continue
		}
		c.exact, c.most = false, min(c.most, leastEdits)
		far, near, at, to := -1, m+n, 0, 0
		for d := fmax; d >= fmin; d -= 2 {
			k := min(int(f[zero+d]), m, n+d)
			if far < 2*k-d {
				far, at = 2*k-d, d
			}
		}
		for d := bmax; d >= bmin; d -= 2 {
			k := max(int(b[zero+d]), i, j+d)
			if 2*k-d < near {
				near, to = 2*k-d, d
			}
		}
		if m+n-near < far-i-j {
			return (far + at) / 2, (far - at) / 2
		}
		return (near + to) / 2, (near - to) / 2
	}
}

// around is how many pairs are looked at again on either side of what has no partner;
// longestWindow and mostWindow bound what is looked at together.
const around, longestWindow, mostWindow = 16, 128, 1 << 16

// settle looks again at the pairs near places without a partner: of the subsequences that
// are as long as the longest it takes the one of which most looks like pairs. likeness is
// less than 1.
func (c *subsequence) settle(likeness func(i, j int) float64) {
	pairs := [][2]int{{-1, -1}}
	for i, k := range c.pair {
		if k >= 0 {
			pairs = append(pairs, [2]int{i, int(k)})
		}
	}
	pairs = append(pairs, [2]int{len(c.x), len(c.y)})
	for at := 1; at < len(pairs); at++ {
		if pairs[at][0]-pairs[at-1][0] == 1 && pairs[at][1]-pairs[at-1][1] == 1 {
			continue
		}
		// A window from behind one pair to before another.
		first, last := max(0, at-1-around), at
		for end := last + around; last < min(end, len(pairs)-1) && last-first < longestWindow; last++ {
			if pairs[last+1][0]-pairs[last][0] > 1 || pairs[last+1][1]-pairs[last][1] > 1 {
				end = last + 1 + around
			}
		}
		i, m, j, n := pairs[first][0]+1, pairs[last][0], pairs[first][1]+1, pairs[last][1]
		if at = last; (m-i)*(n-j) > mostWindow {
			continue
		}
		c.steps += (m - i) * (n - j)
		for k := i; k < m; k++ {
			c.pair[k] = -1
		}
		for _, p := range longest(m-i, n-j, func(k, l int) float64 {
			if c.x[i+k] != c.y[j+l] {
				return 0
			}
			return 1 + likeness(i+k, j+l)
		}) {
			c.pair[i+p[0]] = int32(j + p[1])
		}
	}
}

// between pairs what is certain, in the longest order that the sides have in common, and
// then what lies between, which is mostly short.
func (c *subsequence) between(certain [][2]int32) {
	c.most = leastEdits
	i, j := 0, 0
	for _, p := range ascending(certain) {
		c.find(i, int(p[0]), j, int(p[1]))
		c.pair[p[0]] = p[1]
		i, j = int(p[0])+1, int(p[1])+1
	}
	c.find(i, len(c.x), j, len(c.y))
}

// ascending is the longest part of pairs, ordered by their first places, whose second
// places ascend, too.
func ascending(pairs [][2]int32) [][2]int32 {
	before := make([]int32, len(pairs))
	var tails []int32 // the pair that ends the best chain of each length
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tails, p[1], func(t, v int32) int { return int(pairs[t][1] - v) })
		if before[i] = -1; k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, int32(i))
		} else {
			tails[k] = int32(i)
		}
	}
	list := make([][2]int32, len(tails))
	if len(tails) > 0 {
		for k, at := len(tails)-1, tails[len(tails)-1]; k >= 0; k, at = k-1, before[at] {
			list[k] = pairs[at]
		}
	}
	return list
}
