package pattern

// BlocksTransposed are blocks of 16×16 read with rows for columns.
const BlocksTransposed Kind = "blocks-transposed"

// Transposition belongs to BlocksTransposed. The tensor is seen as a matrix whose
// columns are the axes from Columns on; when Rows is not negative the blocks lie in the
// axes Rows and Columns alone.
type Transposition struct {
	Rows    int   `json:"rows"`
	Columns int   `json:"columns"`
	Block   int64 `json:"block"`
}

// blocksTransposed tries every way to see the tensor as a matrix, and every pair of axes.
// Element (16a+i, 16b+j) then holds (16a+j, 16b+i), and 0 where there is none.
func blocksTransposed(l *look) (found []Finding) {
	const block = 16
	try := func(args Transposition, rows, columns, rowStep, columnStep int64) {
		if rows < 2 || columns < 2 || rows <= block && columns <= block { // one block: the axes are swapped
			return
		}
		swap := func(i int64) int64 {
			r, c := i/rowStep%rows, i/columnStep%columns
			r2, c2 := r-r%block+c%block, c-c%block+r%block
			if r2 >= rows || c2 >= columns {
				return -1
			}
			return i + (r2-r)*rowStep + (c2-c)*columnStep
		}
		found = append(found, l.mapped(BlocksTransposed, args, mapping{swap, swap}, 16)...)
	}
	k := len(l.shape)
	for a := 1; a < k; a++ {
		columns := l.step[a-1]
		if columns > 0 {
			try(Transposition{-1, a, block}, l.total/columns, columns, columns, 1)
		}
	}
	for a := range k {
		for b := a + 1; b < k; b++ {
			if k > 2 {
				try(Transposition{a, b, block}, l.shape[a], l.shape[b], l.step[a], l.step[b])
			}
		}
	}
	return found
}
