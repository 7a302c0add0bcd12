// The rules of `--allow` and `--deny`.
import * as Permission from "#ability/permission/permission.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { errorText } from "#util/error.ts"

export type RuleOptions = { allow?: string[] | undefined; deny?: string[] | undefined }

/** Deny rules come last, so they win. */
export function rulesOf({ allow = [], deny = [] }: RuleOptions): Permission.Rule[] {
  return [...allow.map((text) => parse(text, "allow")), ...deny.map((text) => parse(text, "deny"))]
}

function parse(text: string, action: "allow" | "deny"): Permission.Rule {
  try {
    return Permission.parseRule(text, action)
  } catch (error) {
    throw new UsageError(`--${action}: ${errorText(error)}`)
  }
}
