// The parts of docs/configuration.md: every key, by its first part, with an example of each.
import { Info } from "#kernel/schema/schema.ts"
import { examples } from "./config-examples.ts"
import { type Field, fenced, fieldsOf, fieldTable, schemaOf } from "./fields.ts"

export function configFields(): Field[] {
  return fieldsOf(schemaOf(Info, "input"))
}

export function renderConfiguration(): Record<string, string[]> {
  const fields = configFields()
  const groups = Object.keys(Info.shape).filter((name) => name !== "$schema")
  return {
    keys: groups.flatMap((name) => {
      const [first, ...below] = fields.filter(({ path }) => path.split(/[.[]/)[0] === name)
      return [
        `### \`${name}\``,
        "",
        `${first!.meaning}${first!.fallback ? ` Default: ${first!.fallback}.` : ""}`,
        "",
        ...(below.length ? [...fieldTable("key", below), ""] : []),
        ...(examples[name] ?? []).flatMap(({ language, text }) => [...fenced(language, text), ""]),
      ]
    }),
  }
}
