// Projects that are git repositories: which addresses a person has added, and whether their files are trusted. The record
// is shared by all servers of a database.
import { basename } from "node:path"
import { z } from "zod"
import * as Person from "#kernel/person.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { checkAddress, idOf } from "./address.ts"
import { headOf } from "./mirror.ts"

export const Info = z.object({
  id: about("The project.", z.string()),
  address: about("Address of its git repository.", z.string()),
  name: about("Name of the folder in which it is checked out.", z.string()),
  trusted: about("The person who added it trusts its files: agents, settings, hooks.", z.boolean()),
  person: about("Person who added it; missing: the owner of the server.", z.string().optional()),
  added: about("When, in milliseconds since 1970.", z.number()),
})
export type Info = z.infer<typeof Info>

export class NotFound extends NamedError {
  constructor(address: string) {
    super(
      "Project.NotFound",
      `No project has the address ${address}. "${ownCommand} project add ${address}" adds it.`,
      { address },
    )
  }
}

/** Adds a project, or changes whether it is trusted. Its address must answer. */
export async function add(text: string, options: { trusted: boolean }): Promise<Info> {
  const address = checkAddress(text)
  await headOf(address)
  const person = Person.current()?.name
  const id = idOf(address)
  const name = basename(address.replace(/[:/]$/, "").replaceAll(":", "/"), ".git").replaceAll(/[^\w.-]/g, "-")
  return Storage.update<Info>(
    ["project", id],
    (draft) => {
      draft.trusted = options.trusted
      draft.added ??= Date.now()
      if (person !== undefined) draft.person ??= person
    },
    { initial: { id, address, name: /^\.*$/.test(name) ? "project" : name } },
  )
}

export async function get(address: string): Promise<Info> {
  try {
    return Info.parse(await Storage.read(["project", idOf(address)]))
  } catch (error) {
    throw error instanceof Storage.NotFound ? new NotFound(address) : error
  }
}

export async function list(): Promise<Info[]> {
  const found: Info[] = []
  await Storage.readAll<unknown>(["project"], (value) => {
    const { data } = Info.safeParse(value)
    if (data) found.push(data)
  })
  return found.sort((a, b) => (a.address < b.address ? -1 : 1))
}

/** Its sessions stay, and cannot be continued until it is added again. */
export async function remove(text: string): Promise<Info> {
  const project = await get(checkAddress(text))
  await Storage.remove(["project", project.id])
  return project
}
