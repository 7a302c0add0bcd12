// `vitamin run` with guards and a scripted model.
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, type Reply } from "../../../fixture/fake-llm.ts"
import type { Tmp } from "../../../fixture/tmpdir.ts"

export async function running(
  tmp: Tmp,
  options: { guards: object; script: Reply[]; args?: string[] },
): Promise<{ code: number | string; out: string; err: string; sent: string[] }> {
  await using llm = await fakeLlm(options.script)
  const variables = {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ guards: options.guards }),
  }
  const ran = await vitamin(tmp, ["run", "--yes", ...(options.args ?? []), "go"], variables)
  return { ...ran, sent: llm.requests.map(({ raw }) => raw) }
}

/** How often an answer was held back, as stderr says. */
export function heldBack(err: string): number {
  return err.match(/held back the answer/g)?.length ?? 0
}
