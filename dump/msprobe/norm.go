package msprobe

import "precision/dump/dtype"

// NormOrder is how far the norm of n numbers may be off by the order in which their squares are added up, relative to it. PyTorch does
// so on a CPU one after the other in float32, on as many lanes as a register has numbers, and on one for parts of tensors: of 2^19
// numbers its norm is 1 400 roundoffs off on one lane where they are normal, 2 500 for exp(normal) and 6 100 for exp(2·normal); on 16
// lanes 20, 3 and 420. It grows with n, and this is 2.7 times the worst of these. Where all numbers are the same it may be more.
func NormOrder(n int64) float64 { return float64(n) / 32 * dtype.Float32.Unit() }
