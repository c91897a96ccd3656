// Package stage judges a network of trainer and rollout stage by stage: what each side recorded of a stage is held against what the
// trainer's function makes, in float64, of that side's own recorded input. So an error counts once, where it begins, and what it
// does to later inputs does not.
//
// # Reading
//
// A recording of a side is one or more passes; the n-th call of the embedding begins pass n (tape.go). Calls are paired by their parameter: by the path
// of their module, or, where only functions were recorded, by the elements of the weight. Stages are what lies between
// such calls (extract.go). Tokens are rows of the trainer: the rows of an engine are put into sequences by their positions, and sequences are sought
// among the trainer's ids (tokens.go).
//
// # Judging
//
// The network is a list of cuts, each with the function that leads to it (net.go). Its parameters that no recording
// tells, such as the epsilon, are fitted on the trainer. With the log-probs h that the rest of the network, in float64, makes of
// what side s recorded at cut k, c(s,k) = h(s,k) − h(s,k−1) is what the errors of a stage do to the log-probs; their sum is exact (judge.go). A large
// network's slope stands for its rest (back.go).
package stage
