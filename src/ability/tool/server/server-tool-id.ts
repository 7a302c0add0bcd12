// The one name by which models and people know a tool of an MCP server. `server/tool` is only what a rule is about.

export function serverToolId(serverId: string, name: string): string {
  return `${serverId}_${name}`.replace(/[^\w-]/g, "_").slice(0, 64)
}
