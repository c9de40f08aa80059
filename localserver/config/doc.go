// Package config owns config.toml: the schema of its settings, reading it into
// plain structs for permissions and services, overrides from the environment,
// watching it, and saving single changes so that every other byte stays.
//
// A File is the one configuration of a running companion. Current returns an
// immutable snapshot; Set, Update and the watcher replace it. What is wrong in
// the file becomes a Problem with its line and column, and always narrows
// access: a value that does not fit counts as the safest one, and a file that
// cannot be read as TOML counts as one that asks for everything and is not
// saved over until a person has repaired it.
//
// One table, Fields, describes every setting. Validation, listing, environment
// variables and help all come from it.
package config
