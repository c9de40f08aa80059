package localserver

import (
	"net/http"

	"zeroclaw/localserver/guard"
)

// maxStranger bounds the body of a request that needs no token, in bytes.
const maxStranger = 4 << 10

// routes is the entire API on one screen. docs/api.md describes each line.
func (s *Server) routes() []guard.Route {
	get := func(pattern string, auth guard.Auth, h http.HandlerFunc) guard.Route {
		return guard.Route{Method: "GET", Pattern: pattern, Auth: auth, Body: guard.NoBody, Handler: h}
	}
	do := func(method, pattern string, body guard.Body, h http.HandlerFunc) guard.Route {
		return guard.Route{Method: method, Pattern: pattern, Auth: guard.Token, Body: body, Handler: h}
	}
	// own is for what widens what may happen: only the companion's own page and
	// the command line of the same user may do it.
	own := func(method, pattern string, body guard.Body, h http.HandlerFunc) guard.Route {
		return do(method, pattern, body, s.ownPage(h))
	}
	const token, none = guard.Token, guard.None
	return []guard.Route{
		get("/{$}", none, s.page.ServeHTTP),
		get("/{file...}", none, s.page.ServeHTTP),
		{Method: "POST", Pattern: "/api/pair", Auth: none, Body: guard.JSON, MaxBody: maxStranger, Handler: http.HandlerFunc(s.postPair)},   // code
		{Method: "POST", Pattern: "/api/prove", Auth: none, Body: guard.JSON, MaxBody: maxStranger, Handler: http.HandlerFunc(s.postProve)}, // token_id, nonce
		own("POST", "/api/launch", guard.JSON, s.postLaunch),                                                                                // root?, printed?, own?
		own("POST", "/api/ui", guard.JSON, s.postUI),                                                                                        // origin, confirmed
		get("/api/status", token, s.getStatus),
		get("/api/folders", token, s.getFolders),      // ?path
		do("PUT", "/api/root", guard.JSON, s.putRoot), // path
		get("/api/events", token, s.hub.ServeHTTP),    // Last-Event-ID

		do("POST", "/api/sessions", guard.JSON, s.postSession), // agent?, allowed_tools?, parent?, conversation?
		get("/api/sessions", token, s.getSessions),
		get("/api/sessions/{id}", token, s.getSession),
		do("DELETE", "/api/sessions/{id}", guard.NoBody, s.deleteSession),
		do("POST", "/api/sessions/{id}/turns", guard.JSON, s.postTurn), // message
		do("POST", "/api/sessions/{id}/calls", guard.JSON, s.postCall), // tool, arguments, call_id?; Prefer
		get("/api/sessions/{id}/calls", token, s.getCalls),
		get("/api/sessions/{id}/calls/{call}", token, s.getCall),
		do("DELETE", "/api/sessions/{id}/calls/{call}", guard.NoBody, s.deleteCall),
		get("/api/sessions/{id}/processes", token, s.getProcesses),
		do("DELETE", "/api/sessions/{id}/processes/{pid}", guard.NoBody, s.deleteProcess),

		get("/api/approvals", token, s.getApprovals),
		do("POST", "/api/approvals/{id}", guard.JSON, s.postApproval), // decision, reason?, rule?, content?
		get("/api/permissions", token, s.getPermissions),
		own("PUT", "/api/permissions", guard.JSON, s.putPermissions),      // the object of GET
		own("POST", "/api/permissions/rebase", guard.JSON, s.postRebase),  // rule
		do("POST", "/api/permissions/reset", guard.JSON, s.postReset),     //
		do("POST", "/api/permissions/explain", guard.JSON, s.postExplain), // op+path or command, cwd?
		do("DELETE", "/api/permissions/grants/{id}", guard.NoBody, s.deleteGrant),

		get("/api/tools", token, s.getTools),
		own("POST", "/api/tools/{name}/accept", guard.JSON, s.postAccept),
		get("/api/services", token, s.getServices),
		own("POST", "/api/services/{id}/{action}", guard.JSON, s.postService),     // install, start, stop, restart, retry
		own("PUT", "/api/services/{id}/options", guard.JSON, s.putServiceOptions), // options?, autostart?
		get("/api/services/{id}/logs", token, s.getServiceLogs),                   // ?after

		get("/api/servers", token, s.getServers),
		own("POST", "/api/servers/{name}/{action}", guard.JSON, s.postServer), // connect, disconnect, restart, retry, test (definition?), discover, authorize
		get("/api/servers/{name}/discoveries", token, s.getDiscoveries),
		get("/api/servers/{name}/logs", token, s.getServerLogs), // ?after
		get("/api/agents", token, s.getAgents),
		get("/api/agents/{name}", token, s.getAgent),

		get("/api/mcp/apps", token, s.getApps), // ?agent

		get("/api/config/list", token, s.getConfigList),                       // ?prefix
		get("/api/config/prop", token, s.getConfigProp),                       // ?path
		own("PUT", "/api/config/prop", guard.JSON, s.putConfigProp),           // ?path; value, version?
		own("DELETE", "/api/config/prop", guard.NoBody, s.deleteConfigProp),   // ?path
		own("POST", "/api/config/map-key", guard.JSON, s.postConfigKey),       // ?path&key
		own("DELETE", "/api/config/map-key", guard.NoBody, s.deleteConfigKey), // ?path&key
		own("POST", "/api/config/rename-map-key", guard.JSON, s.postRename),   // path, from, to, version?
		get("/api/providers/local", token, s.getLocalProviders),
		do("POST", "/api/providers/{name}/test", guard.JSON, s.postProviderTest),
		{Method: guard.AnyMethod, Pattern: "/llm/{profile}/{path...}", Auth: token, Body: guard.Stream, Handler: s.relay},

		{Method: guard.AnyMethod, Pattern: "/mcp", Auth: guard.Host, Body: guard.Stream, Handler: s.mcp},          // ?agent&allowed_tools
		{Method: guard.AnyMethod, Pattern: "/mcp/{server}", Auth: guard.Host, Body: guard.Stream, Handler: s.mcp}, // the same, one server under its own names

		get("/api/conversations", token, s.getConversations),             // ?before&limit
		do("POST", "/api/conversations", guard.JSON, s.postConversation), // title?, meta?
		get("/api/conversations/search", token, s.searchConversations),   // ?q
		get("/api/conversations/{id}", token, s.getConversation),
		do("PATCH", "/api/conversations/{id}", guard.JSON, s.patchConversation), // title?, meta?
		do("DELETE", "/api/conversations/{id}", guard.NoBody, s.deleteConversation),
		get("/api/conversations/{id}/messages", token, s.getMessages),              // ?before&limit
		do("POST", "/api/conversations/{id}/messages", guard.JSON, s.postMessages), // version, after, messages
		get("/api/conversations/{id}/calls", token, s.getConversationCalls),
		get("/api/conversations/{id}/files", token, s.getFiles),
		do("POST", "/api/conversations/{id}/files", guard.Upload, s.postFile), // ?name; raw bytes
		get("/api/conversations/{id}/files/{name}", token, s.getFile),

		get("/api/tokens", token, s.getTokens),
		own("POST", "/api/tokens", guard.JSON, s.postToken), // name, agent?, expires?
		own("DELETE", "/api/tokens/{id}", guard.NoBody, s.deleteToken),

		get("/api/results/{id}", token, s.getResult),         // ?offset&limit
		do("POST", "/api/undo/{id}", guard.JSON, s.postUndo), //
		get("/api/audit", token, s.getAudit),                 // ?q&tool&outcome&before&limit&format
		do("POST", "/api/quit", guard.JSON, s.postQuit),      //
	}
}
