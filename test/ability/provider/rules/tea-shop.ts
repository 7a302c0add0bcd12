// A small project as a newcomer finds one: TypeScript, npm scripts, tests, three commits on a branch, work under way.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tmp } from "../../../fixture/tmpdir.ts"

/** Inside of a test, `node --test` runs nothing unless that is hidden from it. */
const test = "env -u NODE_TEST_CONTEXT node --test"

const files: Record<string, string> = {
  "README.md": "# Tea shop\n\nA small server that sells tea.\n\n## Running\n\n    npm start\n",
  "package.json": `${JSON.stringify(
    {
      name: "tea-shop",
      version: "1.4.0",
      type: "module",
      scripts: { test, build: "node -e 0", lint: "node -e 0", start: "node src/server.ts" },
      dependencies: {},
    },
    null,
    2,
  )}\n`,
  "src/server.ts":
    'import { createServer } from "node:http"\nimport { port } from "./config.ts"\n\nexport function startServer() {\n  createServer((_, response) => response.end("tea")).listen(port)\n}\n',
  "src/cart.ts":
    'import { formatPrice } from "./util/format.ts"\n\nexport class Cart {\n  items: number[] = []\n  addItem(cents: number) {\n    this.items.push(cents)\n  }\n  // TODO: apply the discount\n  total() {\n    return formatPrice(this.items.reduce((a, b) => a + b, 0))\n  }\n}\n',
  "src/config.ts": "export const port = 8080;\nexport const timeout = 3000;\n",
  "src/util/format.ts":
    "export function formatPrice(cents: number) {\n  return (cents / 100).toFixed(2);\n}\n",
  "src/util/slug.ts": 'export const slugify = (text: string) => text.toLowerCase().replaceAll(" ", "-")\n',
  "test/cart.test.ts":
    'import { test } from "node:test"\nimport { Cart } from "../src/cart.ts"\n\ntest("a new cart has no items", (t) => t.assert.equal(new Cart().items.length, 0))\n',
  "docs/guide.md": "# Guide\n\nfoo and foo.\n",
  "CHANGELOG.md": "# Changelog\n\n## 1.4.0\n\n- green tea\n",
  "notes.txt": "buy cups\n",
  ".gitignore": "node_modules\n",
}

export function fillTeaShop(tmp: Tmp): void {
  for (const [name, text] of Object.entries(files)) tmp.write(name, text)
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", "Sell tea")
  tmp.git("checkout", "-qb", "feature/checkout")
  tmp.git("commit", "-qm", "Prepare the checkout", "--allow-empty")
  tmp.write("src/config.ts", files["src/config.ts"]!.replace("3000", "5000"))
  tmp.write("draft.md", "a plan\n")
}

/** Every file outside of `.git` with its text. */
export function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name)
    const name = file.slice(folder.length + 1)
    if (entry.isFile() && !/^\.git\//.test(name)) found[name] = readFileSync(file, "utf8")
  }
  return found
}
