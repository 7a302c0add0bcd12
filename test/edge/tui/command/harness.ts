// The interactive terminal with a scripted model, for tests that type commands.
import { env, fakeLlm, type Script } from "../../../fixture/fake-llm.ts"
import { noServers } from "../../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { openXterm } from "../../../fixture/xterm.ts"

export const enter = "\r"
/** As a terminal with the kitty protocol writes it: a lone escape byte would need a pause behind it. */
export const esc = "\u001b[27u"
export const isReady = /^ask · /m

type Options = { args?: string[]; columns?: number; prepare?(tmp: Tmp): Promise<void> | void }

export async function openChat(script: Script, { args = [], columns, prepare }: Options = {}) {
  const tmp = await tmpdir({ git: true })
  await prepare?.(tmp)
  const llm = await fakeLlm(script)
  const variables = { ...noServers, ...env(llm, "chat").variables }
  const terminal = await openXterm(tmp, args, { rows: 40, ...(columns ? { columns } : {}), env: variables })
  return {
    tmp,
    llm,
    terminal,
    variables,
    /** Types a line, and waits for what it shows. */
    async enters(line: string, sees: RegExp | string) {
      terminal.type(line)
      await terminal.sees(`> ${line}`)
      terminal.type(enter)
      await terminal.sees(sees)
    },
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}
