// `npm run dev` in a copy of the checkout: the open page changes when a source changes.
import assert from "node:assert/strict"
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { test } from "node:test"
import { chromium } from "playwright-core"
import { run } from "../fixture/child.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const root = resolve(import.meta.dirname, "../..")

test("npm run dev signs a browser in, and reloads its page after a change", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const name of ["src", "script", "package.json", "tsconfig.json"])
    cpSync(join(root, name), join(tmp.path, name), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    })
  for (const name of ["node_modules", "dist"]) symlinkSync(join(root, name), join(tmp.path, name))
  await using child = run(process.execPath, ["script/dev.ts", "0"], { cwd: tmp.path, env: tmp.env })
  // It ends its server only if it is asked to end.
  await using _ = {
    async [Symbol.asyncDispose]() {
      child.process.kill("SIGTERM")
      await child.exit
    },
  }
  const address = await child.line(/#code=/)
  await using browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
  const page = await browser.newPage()
  await page.goto(address)
  await page.getByText("Connected").waitFor()
  await page.getByRole("button", { name: "New session" }).click()
  await page.getByLabel("Prompt").waitFor()
  const file = join(tmp.path, "src/edge/web/view/app.ts")
  const source = readFileSync(file, "utf8")
  assert.ok(source.includes('"Stats"'))
  writeFileSync(file, source.replace('"Stats"', '"Numbers"'))
  await page.getByRole("link", { name: "Numbers" }).waitFor()
  await page.getByText("Connected").waitFor()
})
