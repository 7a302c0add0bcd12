// `vitamin mcp add` and `vitamin mcp remove`: edit the server files of a project. A file with comments is not edited,
// to keep the comments.
import { join } from "node:path"
import { entriesOf } from "#ability/mcp/load-servers.ts"
import { idOf, localId } from "#ability/mcp/server-ids.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { Instance } from "#kernel/instance.ts"
import { serverFiles } from "#kernel/reviewed/places.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorText } from "#util/error.ts"
import { replaceFile } from "#util/file/write-file.ts"
import { ownCommand } from "#util/own-command.ts"

type Content = Record<string, unknown>
type Add = FolderOptions & {
  name: string
  command: string[]
  url?: string | undefined
  env?: string[] | undefined
  header?: string[] | undefined
}

const [ownFile] = serverFiles

export async function addServer(options: Add): Promise<void> {
  const { name, command, url } = options
  if (!name || idOf(name) !== name)
    throw new UsageError("A name may have letters, digits, '.', '_' and '-', at most 64.")
  if (name === localId) throw new UsageError(`"${localId}" is reserved for vitamin's own tools.`)
  if (command.length > 0 === (url !== undefined))
    throw new UsageError(
      `Name either a command or an address: ${ownCommand} mcp add ${name} -- npx -y PACKAGE, or ${ownCommand} mcp add ${name} --url https://…`,
    )
  const env = pairs("--env", options.env)
  const headers = pairs("--header", options.header)
  const entry = {
    name,
    ...(url ? { url } : { command }),
    ...(env ? { env } : {}),
    ...(headers ? { headers } : {}),
  }
  await inInstance(options, async () => {
    const content = await read(ownFile)
    if (entriesOf(content).some(([id]) => id === name))
      throw new UsageError(`"${name}" is in ${ownFile} already. ${ownCommand} mcp remove ${name} removes it.`)
    await write(ownFile, { ...content, servers: withEntry(content.servers ?? [], entry) })
    process.stdout.write(`"${name}" is in ${ownFile} now.\n`)
    process.stdout.write(`Review the file, so that the server may start: ${ownCommand} trust\n`)
    process.stdout.write(`Then try it: ${ownCommand} mcp test ${name}\n`)
  })
}

export async function removeServer(options: FolderOptions & { name: string }): Promise<void> {
  const { name } = options
  await inInstance(options, async () => {
    const from: string[] = []
    for (const file of serverFiles) {
      const content = await read(file)
      if (!entriesOf(content).some(([id]) => id === name)) continue
      await write(file, without(content, name))
      from.push(file)
    }
    if (!from.length) throw new UsageError(`"${name}" is named in neither of ${serverFiles.join(" and ")}.`)
    process.stdout.write(`"${name}" is removed from ${from.join(" and ")}.\n`)
  })
}

/** The file may hold servers as a list or as an object. */
function withEntry(servers: object, { name, ...entry }: { name: string }): object {
  return Array.isArray(servers) ? [...servers, { name, ...entry }] : { ...servers, [name]: entry }
}

function without(content: Content, name: string): Content {
  const remaining = (value: unknown) => {
    if (Array.isArray(value))
      return value.filter((entry) => !entriesOf({ servers: [entry] }).some(([id]) => id === name))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).filter(([key]) => idOf(key) !== name))
  }
  return Object.fromEntries(
    Object.entries(content).map(([key, value]) => [
      key,
      key === "servers" || key === "mcpServers" ? remaining(value) : value,
    ]),
  )
}

async function read(name: string): Promise<Content> {
  const bytes = await readSmallFile(join(Instance.worktree, name)).catch((error) => {
    throw new UsageError(`${name} cannot be changed: ${errorText(error)}`)
  })
  if (!bytes) return {}
  try {
    const value = JSON.parse(bytes.toString())
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value
  } catch {
    // The error below says what is allowed.
  }
  throw new UsageError(`${name} is not plain JSON (it may have comments), so change it by hand.`)
}

async function write(name: string, content: Content): Promise<void> {
  await replaceFile(join(Instance.worktree, name), `${JSON.stringify(content, null, 2)}\n`)
}

function pairs(flag: string, values: string[] | undefined): Record<string, string> | undefined {
  if (!values?.length) return undefined
  return Object.fromEntries(
    values.map((value) => {
      const at = value.indexOf("=")
      if (at < 1) throw new UsageError(`${flag} takes NAME=VALUE, not ${JSON.stringify(value)}`)
      return [value.slice(0, at), value.slice(at + 1)]
    }),
  )
}
