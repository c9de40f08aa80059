// Package meta holds the tools that are about other tools, what servers offer
// besides tools, and results, rather than about the machine: tool_search,
// mcp_resources, mcp_prompts and read_tool_result.
package meta
