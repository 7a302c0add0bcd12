// The lines of `vitamin doctor` about the clouds that have an account here: whether the packages that they need are installed.
import { findAccounts } from "#ability/provider/cloud-models.ts"
import * as Config from "#kernel/config/config.ts"
import type { Info } from "#kernel/schema/schema.ts"
import type { Finding } from "./doctor.ts"

const about = "clouds"

export async function findClouds(directory: string): Promise<Finding[]> {
  const config = await Config.inspect({ directory }).then(
    ({ config }) => config,
    (): Info => ({}),
  )
  return findAccounts(config).map(({ id, variable, missing }): Finding => {
    if (!missing) return { state: "ok", about, text: `${id} has an account (${variable})` }
    const text = `${id} has an account (${variable}); not installed: ${missing.names.join(", ")}`
    return { state: "note", about, text, todo: missing.command }
  })
}
