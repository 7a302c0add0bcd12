// What tests of the sandbox share.
import { execFileSync } from "node:child_process"
import type { FakeLlm } from "../../fixture/fake-llm.ts"

/** The results of tool calls that the model was sent last, over the chat wire. */
export function resultsIn({ requests }: Pick<FakeLlm, "requests">): string[] {
  const { messages } = requests.at(-1)!.body as { messages: { role: string; content: unknown }[] }
  return messages.flatMap(({ role, content }) =>
    role === "tool" ? [typeof content === "string" ? content : JSON.stringify(content)] : [],
  )
}

/** The process of the guest of a `vitamin` with this id. */
export function guestOf(pid: number): number {
  const [id] = guestsOf(pid)
  if (id === undefined) throw new Error(`process ${pid} has no guest`)
  return id
}

/** The processes of the guests of a `vitamin` with this id. Those of other tests run on the same machine and do not count. */
export function guestsOf(pid: number): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n")
  const all = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
  const below = (parents: string[]): string[] => {
    const found = all.flatMap(([, id, parent]) => (parents.includes(parent!) ? [id!] : []))
    return found.length ? [...found, ...below(found)] : []
  }
  const own = below([String(pid)])
  return all.flatMap(([, id, , args]) =>
    own.includes(id!) && /^\S*node\S* (--\S+ )*\S*guest\.[jt]s$/.test(args!) ? [Number(id)] : [],
  )
}
