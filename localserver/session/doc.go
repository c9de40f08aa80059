// Package session ties a frozen permissions.Grant to live tools and a private
// workspace folder for one conversation. A Session is where a call enters the
// gate (stop 3 of its seven): it looks tools up, gives the Runner its verdicts
// and keeps the calls under way, so that any client can follow or cancel them.
//
// Sessions holds all of them. Policy is the live part of the permissions that
// they share; Judge is the one function that decides, for real calls as well
// as for the rule tester and zeroclaw explain.
package session
