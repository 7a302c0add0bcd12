// Fixtures for tests of attached files.
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type * as Message from "#knowledge/message/message.ts"
import { text } from "../../fixture/fake-llm.ts"
import type { World } from "./harness.ts"

type Data = Message.Of<"file_reference">["data"]

export function files(messages: Message.Info[]): Data[] {
  return messages.flatMap((message) => (message.type === "file_reference" ? [message.data] : []))
}

/** The whole text of the last request. */
export function sent({ llm }: World): string {
  return llm.requests.at(-1)!.raw
}

/** Prompts with one file, and returns its message. */
export async function point(
  world: World,
  path: string,
  range: { startLine?: number; endLine?: number } = {},
): Promise<Data> {
  world.llm.push(text("ok"))
  await world.ask("look", { parts: [{ type: "file_reference", path, ...range }], asks: "deny" })
  return files(await world.messages()).at(-1)!
}

export function outside(tmp: World["tmp"], name: string, content: string): string {
  const file = join(dirname(tmp.path), name)
  writeFileSync(file, content)
  return file
}
