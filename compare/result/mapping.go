package result

// MappingRow is a line of the mapping table: a tensor of the left side and the
// files that would be compared. What is not known is empty.
type MappingRow struct {
	Index    int
	Sequence int64
	Type     string
	// Left and Right are operator names, Tensor is the name of the tensor.
	Left, Right string
	Tensor      string
	LeftPath    string
	RightPath   string
}
