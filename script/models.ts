// Makes the compact list of models that ships with vitamin out of a models.dev catalog:
//   node script/models.ts ../shared/data/models.json
import { readFileSync, writeFileSync } from "node:fs"
import { catalogRows } from "#ability/provider/catalog/catalog-rows.ts"

const target = new URL("../src/ability/provider/catalog/models.json", import.meta.url)

const [, , source] = process.argv
if (!source) throw new Error("name the catalog to read: node script/models.ts path/to/models.json")
const rows = catalogRows(JSON.parse(readFileSync(source, "utf8")))
const lines = Object.entries(rows).map(([id, text]) => `  ${JSON.stringify(id)}: ${JSON.stringify(text)}`)
writeFileSync(target, `{\n${lines.join(",\n")}\n}\n`)
