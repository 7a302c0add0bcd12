// The region of AWS, from the usual places: a variable, then the profile in the shared files.
import { homedir } from "node:os"
import { join } from "node:path"
import * as Env from "#kernel/process/env.ts"
import { textOf } from "#util/file/path-info.ts"

/** Undefined if nothing names one. */
export function awsRegion(): string | undefined {
  return variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? regionOfProfile()
}

/** The programs of AWS let the credentials file win, and take a variable of the person for a profile. */
function regionOfProfile(): string | undefined {
  const profile = variable("AWS_PROFILE") ?? variable("AWS_DEFAULT_PROFILE") ?? "default"
  const folder = join(homedir(), ".aws")
  const credentials = variable("AWS_SHARED_CREDENTIALS_FILE") ?? join(folder, "credentials")
  const config = variable("AWS_CONFIG_FILE") ?? join(folder, "config")
  const inConfig = profile === "default" ? ["default", "profile default"] : [`profile ${profile}`]
  return regionIn(credentials, [profile]) ?? regionIn(config, inConfig)
}

/** The value of `region` in the sections with these names. Lines that are indented belong to another setting. */
function regionIn(file: string, sections: readonly string[]): string | undefined {
  let isWanted = false
  let region: string | undefined
  for (const line of (textOf(file) ?? "").split(/\r?\n/)) {
    const section = /^\[([^\]]+)\]/.exec(line)?.[1]
    if (section !== undefined) isWanted = sections.includes(section.trim().replace(/\s+/g, " "))
    const value = isWanted ? /^region\s*=\s*([\w-]+)\s*(?:[#;].*)?$/.exec(line)?.[1] : undefined
    region = value ?? region
  }
  return region
}

function variable(name: string): string | undefined {
  return Env.get(name)?.trim() || undefined
}
