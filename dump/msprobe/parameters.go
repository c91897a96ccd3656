package msprobe

// ParameterNames are those of MindSpore's cells where PyTorch's modules have others.
var ParameterNames = map[string]string{"gamma": "weight", "beta": "bias", "embedding_table": "weight", "moving_mean": "running_mean", "moving_variance": "running_var"}
