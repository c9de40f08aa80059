// Package relay owns the page's way to model providers: it takes a request
// below /llm/PROFILE/, puts the profile's key on it, sends it to the profile's
// base_url and streams the answer back.
//
// Only the few paths that the two SDKs of the page need go through, only
// listed headers pass in either direction, and a key is never sent anywhere
// but to the origin the person typed: redirects to other origins are not
// followed, and plain http is for loopback and private addresses only, which
// is checked on the address that is really connected to.
//
// The package also finds model servers on loopback ports and tests a profile.
package relay
