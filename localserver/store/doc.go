// Package store owns what the companion remembers of chats: conversations with
// their messages, the calls it made for them, a full-text index, and big
// results and media that are kept beside the chat.
//
// Everything is in one SQLite file, opened on first use, and one folder of
// objects, both readable by the user only. A page that writes says which
// version it knows, so two tabs never overwrite each other. A call is recorded
// when it starts; one that a crash of the companion swallowed is found
// without an end at the next start and becomes "interrupted".
package store
