// Package scan cuts the text forms of graphs into their parts: [Text] protobuf text form, [JSON] JSON. Both pull from a
// sliding window over a stream; the first fault sticks and ends all loops.
package scan
