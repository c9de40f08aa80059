// Package results turns what a tool returned into what people and models get.
//
// A person gets every content item as it came, with secrets redacted and
// embedded files and media replaced by where they are. A model gets text only:
// framed as untrusted data with a boundary that the data cannot forge, bounded
// in length with the rest stored for read_tool_result, and with files, images
// and audio replaced by a reference. This is the one place where any of this
// happens; Framer does the same for resources, prompts and other texts.
//
// A result may be 16 MiB long and eight may come at once: what need not be
// changed is passed on as a part of what came, base64 and stored texts are
// streamed, and big results are finished a few at a time.
package results
