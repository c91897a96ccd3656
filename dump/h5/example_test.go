package h5_test

import (
	"fmt"
	"log"
	"os"

	"precision/dump/h5"
)

func Example() {
	r, err := os.Open("testdata/links_earliest.h5")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := h5.Open(r, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	err = f.Walk(func(path string, obj h5.Object, err error) error {
		d, ok := obj.(*h5.Dataset)
		if err != nil || !ok {
			return err
		}
		elements, err := d.ReadAll()
		fmt.Println(path, d.Type, d.Shape, elements)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// /a/b/x int8 [] [1]
	// /a/c/y int8 [] [2]
	// /hard int8 [] [1]
}
