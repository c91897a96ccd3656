// Package pattern says what kind of wrong a tensor is: given what an operator
// should have written and what was recorded, it tries hypotheses (a factor, a
// missing bias, swapped axes, an unwritten tail, stale data, a flipped bit …)
// and tells those that the numbers bear out, best first.
//
// The expectation may come from recomputing the operator (exact, with a bound
// for every element) or from a golden run (with noise, no bound). With e = got -
// want, an element is *beyond* when |e| exceeds
//
//	bound                                      where a bound is given, else
//	max(v·|want| + t, 15·q·(|want| + m))       v, t: unit roundoff and half of the least number of the type,
//	                                           m: median of |want|, q: 35 % quantile of |e|/(|want| + m), or 0 where it exceeds 0.1
//
// so that noise of any size and shape hides itself. A hypothesis predicts every
// element; with r = got - prediction it explains
//
//	1 - (Σ r² over the elements beyond + what it spoils elsewhere) / Σ e² over the elements beyond
//
// and it has to halve the error of so many elements that chance is ruled out,
// which keeps a single large element from carrying a fit. See [Find].
//
// A hypothesis is one file and one entry in [hypotheses]; it returns numbers and
// kinds, never sentences.
package pattern
