// Takes out the files that only hand on what another file of `dist/` exports. The bundler makes one for each dynamic import
// of a module that shares its file with others, and a start would open and compile it.
import type { Rolldown } from "tsdown"

const facade = /^export\{([^{}]+)\}from"(\.\/[^"]+)";?\s*$/

export const noFacades: Rolldown.Plugin = {
  name: "no-facades",
  generateBundle(_, bundle) {
    const handed = new Map<string, string>()
    for (const file of Object.values(bundle)) {
      const [, names, from] = (file.type === "chunk" && !file.isEntry && facade.exec(file.code)) || []
      if (names === undefined) continue
      handed.set(file.fileName, `import("${from}").then(m=>({${fieldsOf(names)}}))`)
      delete bundle[file.fileName]
    }
    for (const file of Object.values(bundle))
      if (file.type === "chunk") file.code = withoutFacades(file.code, handed)
  },
}

/** `a as b` in an export list is the field `b:m.a` of what the import gives. */
function fieldsOf(names: string): string {
  return names
    .split(",")
    .map((one) => one.split(" as "))
    .map(([name, as = name]) => `${as}:m.${name}`)
    .join(",")
}

/** `handed` has the import that replaces that of each facade. */
function withoutFacades(code: string, handed: Map<string, string>): string {
  return code.replace(/\bimport\((["'`])\.\/([^"'`]+)\1\)/g, (text, _, file) => handed.get(file) ?? text)
}
