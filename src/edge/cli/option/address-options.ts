// `--port` and `--host` of commands that listen.
import { UsageError } from "#edge/cli/process/exit.ts"

export const port = {
  type: "number",
  coerce: portNumber,
  describe: "port to listen on; 0 takes a free one",
} as const

export const host = {
  type: "string",
  default: "127.0.0.1",
  coerce: hostName,
  describe: "address to listen on",
} as const

function hostName(host: unknown): string {
  if (typeof host === "string" && host.trim() !== "") return host.trim()
  throw new UsageError("--host takes one address, such as 127.0.0.1")
}

function portNumber(port: unknown): number {
  if (typeof port === "number" && Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UsageError("--port takes a number from 0 to 65535")
}
