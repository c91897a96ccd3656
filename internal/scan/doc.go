// Package scan cuts texts into their tokens: [JSON] JSON, as Python writes it too, and [Text] protobuf text form. Both pull from a
// sliding window over a stream; the first fault sticks and ends all loops.
package scan
