// `vitamin upgrade` in each kind of installation, from the packed package.
import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { version } from "#util/version.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { pack } from "../../../fixture/pack.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const own = "node_modules/@vitamin-agent/vitamin"

for (const [what, folder, files, says] of [
  [
    "a global installation",
    `prefix/lib/${own}`,
    [],
    /installed globally: .*\nTo upgrade: npm install -g @vitamin-agent\/vitamin@latest\n/,
  ],
  [
    "pnpm",
    `.local/share/pnpm/global/5/${own}`,
    [],
    /To upgrade: pnpm add -g @vitamin-agent\/vitamin@latest\n/,
  ],
  ["bun", `.bun/install/global/${own}`, ["package.json"], /globally: .*\nTo upgrade: bun add -g @vitamin/],
  [
    "yarn",
    `.config/yarn/global/${own}`,
    ["package.json", "yarn.lock"],
    /globally: .*\nTo upgrade: yarn global add @vitamin/,
  ],
  [
    "a project with pnpm",
    `app/${own}`,
    ["package.json", "pnpm-lock.yaml"],
    /To upgrade: cd \S+\/app && pnpm add @vitamin/,
  ],
  ["a project with bun", `app/${own}`, ["package.json", "bun.lock"], /cd \S+\/app && bun add @vitamin/],
  ["a project with an older bun", `app/${own}`, ["package.json", "bun.lockb"], /app && bun add @vitamin/],
  [
    "npx",
    `.npm/_npx/ab12/${own}`,
    ["package.json"],
    /fetched by npx: .*\nTo upgrade: npx @vitamin-agent\/vitamin@latest\n/,
  ],
  [
    "a project with npm",
    `my app/${own}`,
    ["package.json"],
    /dependency of a project: .*\nTo upgrade: cd '.*\/my app' && npm install @vitamin-agent\/vitamin@latest\n/,
  ],
  [
    "a project with yarn",
    `app/${own}`,
    ["package.json", "yarn.lock"],
    /To upgrade: cd \S+\/app && yarn add @vitamin-agent\/vitamin@latest\n/,
  ],
  ["an unpacked tarball", "somewhere/package", [], /unpacked by hand: .*\nTo upgrade: npm install -g /],
] as const)
  test(`vitamin upgrade names the command for ${what}, without a network`, async () => {
    await using tmp = await tmpdir()
    const place = join(tmp.path, folder)
    mkdirSync(dirname(place), { recursive: true })
    execFileSync("tar", ["xzf", pack()], { cwd: tmp.path })
    cpSync(join(tmp.path, "package"), place, { recursive: true })
    for (const file of files) tmp.write(join(folder.split("/node_modules/")[0]!, file), "{}")
    const ran = spawnSync(process.execPath, [join(place, "dist/vitamin.js"), "upgrade"], {
      cwd: tmp.path,
      env: tmp.env,
      encoding: "utf8",
    })
    assert.equal(ran.status, 0, ran.stderr)
    assert.match(ran.stdout, says)
    assert.ok(ran.stdout.startsWith(`vitamin ${version}, `))
  })

test("vitamin upgrade names git and npm for a checkout", async () => {
  await using tmp = await tmpdir()
  const { out } = await vitamin(tmp, ["upgrade"])
  assert.match(out, /a checkout: .*\nTo upgrade: cd \S+ && git pull && npm ci\n/)
})
