// The name of an MCP tool for models and people. Rules use `server/tool`.

export function serverToolId(serverId: string, name: string): string {
  return `${serverId}_${name}`.replace(/[^\w-]/g, "_").slice(0, 64)
}
