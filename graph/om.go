package graph

// OMHeader is the header of an offline model file.
type OMHeader struct {
	Version    uint32
	Length     int64 // bytes behind the header
	Encrypted  bool
	ModelType  uint8 // 0 IR, 1 standard, 2 tiny, 3 flow, 4 lite, 5 bundle
	Name       string
	Ops        uint32
	Models     int // sub models of a dynamic model, at least 1
	Platform   string
	Dynamic    bool
	Partitions []OMPartition // of all models
}

// OMPartition is one piece of an offline model file.
type OMPartition struct {
	Model  int   // number of the model it belongs to
	Type   int   // 0 model definition, 1 weights, 2 task info, 3 kernels, 6 flow model, 7 flow sub model, …
	Offset int64 // in the file
	Size   int64 // bytes
}
