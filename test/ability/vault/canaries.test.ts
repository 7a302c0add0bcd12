// Twenty values go through the vault in real runs of the command: stored, listed, used in a command and in a request,
// beside encryption, signing and an export. None may be found in clear anywhere afterwards.
import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { contentOf, createCanaries, findIn, names } from "../../fixture/canaries.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const passphrase = `passphrase-${randomBytes(8).toString("hex")}`

async function startServer() {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization ?? "")
    response.end(`you sent ${request.headers.authorization}`)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/echo` }
}

/** Prints the variable in many ways, and the command lines of all processes. */
const printer = `
const value = process.env.APP_TOKEN
console.log(value)
console.log(Buffer.from(value).toString("base64"), Buffer.from("user:" + value).toString("base64"))
console.log(Buffer.from(value).toString("hex"), encodeURIComponent(value), JSON.stringify({ value }))
console.log(new URLSearchParams({ value }).toString())
const wrap = (encoding, width) => Buffer.from(value).toString(encoding).replace(RegExp(".{" + width + "}", "g"), "$&\\n")
for (const width of [20, 48, 60, 64, 76]) console.log(wrap("hex", width) + "\\n" + wrap("base64", width))
for (const between of [":", " ", ", 0x"]) console.log(Buffer.from(value).toString("hex").match(/../g).join(between))
console.log(encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()) + " %" + Buffer.from(value).toString("hex").match(/../g).join("%"))
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
const lines = readdirSync("/proc").filter((id) => /^\\d+$/.test(id)).flatMap((id) => {
  try { return [readFileSync("/proc/" + id + "/cmdline", "latin1")] } catch { return [] }
})
writeFileSync(process.argv[2], lines.join("\\n"))
for (const [name, one] of Object.entries(process.env)) console.log(name, one)
`

test("none of 20 canary values is found in clear after a session that stores, lists, uses and exports", async () => {
  await using tmp = await tmpdir({ git: true })
  const canaries = createCanaries()
  const { server, seen, url } = await startServer()
  const root = dirname(tmp.path)
  const temp = join(root, "temp")
  const given = join(root, "given")
  const lines = join(root, "command-lines.txt")
  for (const folder of [temp, given]) mkdirSync(folder)
  const variables: Record<string, string> = {}
  const origins = [...canaries].map(([name, value], i) => {
    if (i % 2) writeFileSync(join(given, name), `${value}\n`)
    else variables[`GIVEN_${i}`] = value
    return { name, from: i % 2 ? { file: join(given, name) } : { env: `GIVEN_${i}` } }
  })
  tmp.write("print.mjs", printer)
  tmp.write("letter.txt", "dear reader")
  const command = `${process.execPath} print.mjs ${lines}; printenv APP_TOKEN | base64`
  const uses = names.map((name, i) =>
    i % 4 === 1 || i % 4 === 3
      ? call("secrets_use", { name, command, env: "APP_TOKEN" })
      : call("secrets_use", { name, url, header: "Authorization", prefix: "Bearer " }),
  )
  await using llm = await fakeLlm([
    calls(origins.map((origin) => call("secrets_set", origin))),
    call("secrets_list"),
    calls(uses),
    calls(names.map((name) => call("secrets_use", { name, command, env: "APP_TOKEN" }))),
    call("crypto_encrypt", { key: "letters", path: "letter.txt" }),
    call("crypto_sign", { key: "letters-signed", path: "letter.txt" }),
    call("secrets_use", { name: names[0], show: true }),
    text("Done."),
  ])
  const rights = [
    "secret.use:*",
    "bash.execute",
    `network.fetch:${new URL(url).origin}/*`,
    `file.read:${given}/**`,
  ]
  const args = ["run", "--agent", "vault", "--yes", "--format", "json", "keep these"]
  const ran = await vitamin(tmp, [...args, ...rights.flatMap((rule) => ["--allow", rule])], {
    ...env(llm, "chat").variables,
    ...variables,
    VITAMIN_VAULT_PASSPHRASE: passphrase,
    VITAMIN_LOG: "debug",
    TMPDIR: temp,
  })
  server.close()
  assert.equal(ran.code, 3, `the value that no rule shows is denied: ${ran.err}`)
  const id = /"sessionId":"([^"]+)"/.exec(ran.out)![1]!
  const exported = await vitamin(tmp, ["session", "export", id])
  assert.equal(exported.code, 0, exported.err)
  rmSync(given, { recursive: true })

  const sent = llm.requests.map(({ raw }) => raw)
  assert.match(sent[1]!, /The secret canary-1 is stored/)
  assert.equal(sent.at(-1)!.match(/\[secret canary-\d+\]/g)!.length > 100, true, "outputs are redacted")
  assert.match(sent.at(-1)!, /secret\.show of \\"canary-1\\" is denied/)
  for (const value of seen) assert.match(value, /^Bearer CANARY/, "the server got the value")
  assert.ok(seen.length >= 4 && readFileSync(lines, "latin1").includes("print.mjs"))

  const places = [
    { file: "stdout", content: ran.out },
    { file: "stderr", content: ran.err },
    { file: "export", content: exported.out },
    { file: "requests to the model", content: sent.join("\n") },
    ...contentOf(root),
  ]
  assert.ok(places.some(({ file }) => file.endsWith("/vitamin/vault")))
  assert.deepEqual(findIn(places, new Map([...canaries, ["passphrase", passphrase]])), [])
})
