// The lines of `vitamin doctor` about remote agents: whether their tokens are there. Sends nothing.
import { tokenVariable } from "#ability/a2a/remote-fetch.ts"
import * as Config from "#kernel/config/config.ts"
import * as Env from "#kernel/process/env.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Finding } from "./doctor.ts"

const about = "remote agents"

export async function findRemotes(directory: string): Promise<Finding[]> {
  const { a2a = {} } = await Config.inspect({ directory }).then(
    ({ config }) => config,
    () => ({ a2a: {} }),
  )
  return Object.entries(a2a).map(([name, { url, token }]): Finding => {
    const variable = tokenVariable(token)
    if (variable !== undefined && !Env.get(variable))
      return {
        state: "note",
        about,
        text: `${name} needs the variable ${variable} for its token`,
        todo: `export ${variable}=…`,
      }
    return {
      state: "ok",
      about,
      text: `${name}, at ${new URL(url).host}`,
      todo: `${ownCommand} a2a show ${name}`,
    }
  })
}
