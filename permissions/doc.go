// Package permissions is the policy of the companion: rules, profiles and
// bundles, the frozen Grant of a session, and Decide, which turns one call
// into a Verdict.
//
// Everything here is pure: no file is read, no clock is asked, no goroutine is
// started. What a verdict needs to know about the machine arrives as facts in
// a Request; package permissions/resolve collects the facts about paths and
// package permissions/shellscan those about commands.
package permissions
