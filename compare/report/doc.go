// Package report renders what a comparison found: tables as csv, reasons as
// sentences in a language.
//
// A [result.Table] has no text in it. Here, and nowhere else, it gets one:
//
//   - [CSV] writes the table of msaccucmp.py byte by byte, and
//     [ReadCSV] reads tables of any generation back, for those who have no
//     better record of a comparison;
//   - [Sentence] says a [result.Reason] in a language. The English sentences
//     are those of the csv's last column.
//
// Nothing else in the program reads a csv table or a sentence.
package report
