package msprobe

import "precision/dump/dtype"

// NormLanes is on how few lanes squares are added up in float32, one after the other: PyTorch's norm on a CPU has one sum for each of
// the 8 or 16 numbers of a register (ATen's ReduceOpsKernel).
const NormLanes = 8

// NormOrder is how far the norm of n numbers may be off by that, relative to it. Each of n/lanes additions rounds by half a unit of the
// sum so far on average, and all go the same way where the numbers are alike; the root halves that. Of 2^20 numbers torch 2.15 with 16
// lanes is 180 units off where they are normal, 880 for their cubes, 1 600 for exp(2·normal), and 8 300 where all are 0.37: a quarter of
// this, as its lanes are twice as many.
func NormOrder(n int64) float64 { return float64(n) / (4 * NormLanes) * dtype.Float32.Unit() }
