// Package secrets owns what is secret at rest and in text: the key file, the
// sealed form of single values, and the redaction of secrets from anything
// that is shown, logged or sent.
//
// The sealed form is ZeroClaw's own, so that its files can be brought along:
// "enc2:" + lower-case hex of a 12-byte nonce, the ChaCha20-Poly1305
// ciphertext and its 16-byte tag (RFC 8439), under the 32-byte key that the
// file .secret_key holds as hex. Nothing of this package ever prints a value
// or a ciphertext, in errors neither.
package secrets
