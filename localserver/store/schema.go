package store

// migrations bring a file from user_version n to n+1. One that was released
// is never changed. Times are Unix milliseconds.
var migrations = []string{`
CREATE TABLE conversations (
	id TEXT PRIMARY KEY,
	title TEXT NOT NULL,
	meta TEXT NOT NULL,
	version INTEGER NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL
);
CREATE INDEX conversations_by_time ON conversations (updated DESC, id DESC);

CREATE TABLE messages (
	n INTEGER PRIMARY KEY,
	conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
	seq INTEGER NOT NULL,
	id TEXT NOT NULL,
	role TEXT NOT NULL,
	created INTEGER NOT NULL,
	data TEXT NOT NULL,
	words TEXT NOT NULL,
	UNIQUE (conversation, seq)
);

CREATE VIRTUAL TABLE search USING fts5 (words, content='messages', content_rowid='n',
	tokenize='unicode61 remove_diacritics 2', prefix='2 3');
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
	INSERT INTO search (rowid, words) VALUES (new.n, new.words);
END;
CREATE TRIGGER messages_gone AFTER DELETE ON messages BEGIN
	INSERT INTO search (search, rowid, words) VALUES ('delete', old.n, old.words);
END;

CREATE TABLE calls (
	n INTEGER PRIMARY KEY,
	id TEXT NOT NULL,
	session TEXT NOT NULL,
	conversation TEXT NOT NULL,
	status TEXT NOT NULL,
	started INTEGER NOT NULL,
	ended INTEGER,
	arguments TEXT NOT NULL,
	outcome TEXT NOT NULL,
	UNIQUE (session, id)
);
CREATE INDEX calls_by_conversation ON calls (conversation, n);
CREATE INDEX calls_without_end ON calls (n) WHERE ended IS NULL;

CREATE TABLE objects (
	id TEXT PRIMARY KEY,
	session TEXT NOT NULL,
	mime TEXT NOT NULL,
	size INTEGER NOT NULL,
	created INTEGER NOT NULL
);
CREATE INDEX objects_by_time ON objects (created, id);
CREATE INDEX objects_by_session ON objects (session)`,

	// What a stored result belongs to is a conversation, or a session of none.
	`
ALTER TABLE objects RENAME COLUMN session TO owner;
DROP INDEX objects_by_session;
CREATE INDEX objects_by_owner ON objects (owner)`,

	// Who asked for a call is told of also when its end was never seen.
	`
ALTER TABLE calls ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN client TEXT NOT NULL DEFAULT ''`}
