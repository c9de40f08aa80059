// Package results turns what a tool returned into what people and models get.
//
// A person gets every content item, with secrets redacted. A model gets text
// only: framed as untrusted data with a boundary that the data cannot forge,
// bounded in length with the rest stored for read_tool_result, and with images
// and audio replaced by a reference. This is the one place where any of this
// happens.
package results
