// The vault through the command: typed and piped values, the keyring, processes at once, and what a rule may show.
import assert from "node:assert/strict"
import { chmodSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const passphrase = "correct horse battery"
const withPassphrase = { VITAMIN_VAULT_PASSPHRASE: passphrase }
const value = "typed-value-0123456789"

async function pipe(
  tmp: Tmp,
  name: string,
  piped: string,
  variables: Record<string, string> = withPassphrase,
) {
  await using child = startVitamin(tmp, ["vault", "set", name], variables)
  child.process.stdin!.end(piped)
  return { code: await child.exit, out: child.lines.join("\n"), err: child.errors() }
}

test("vitamin vault set, list and remove keep a piped value, and refuse an odd name", async () => {
  await using tmp = await tmpdir()
  assert.deepEqual(await pipe(tmp, "token", `${value}\n`), {
    code: 0,
    out: "Stored the secret token.",
    err: "",
  })
  assert.match((await vitamin(tmp, ["vault", "list"], withPassphrase)).out, /^token +secret +\d{4}-/)
  assert.match((await pipe(tmp, "a/b", value)).err, /"a\/b" is no name of a secret/)
  assert.equal((await vitamin(tmp, ["vault", "remove", "token"], withPassphrase)).out, "Removed token.")
  assert.match((await vitamin(tmp, ["vault", "list"], withPassphrase)).err, /The vault is empty/)
})

test("processes that create the vault at the same time lose nothing", async () => {
  await using tmp = await tmpdir()
  const names = ["one", "two", "three", "four"]
  const done = await Promise.all(names.map((name) => pipe(tmp, name, `${value}-${name}`)))
  assert.deepEqual(
    done.map(({ code, err }) => [code, err]),
    names.map(() => [0, ""]),
  )
  const { out } = await vitamin(tmp, ["vault", "list"], withPassphrase)
  assert.deepEqual(
    out.split("\n").map((line) => line.split(" ")[0]),
    [...names].sort(),
  )
})

/** Speaks like `secret-tool` and writes down how it was called. */
const keyring = `#!/bin/sh
echo "$@" >> "$KEYRING_LOG"
case "$1" in
  store) cat > "$KEYRING_LOG.$6" ;;
  lookup) cat "$KEYRING_LOG.$5" ;;
  clear) rm "$KEYRING_LOG.$5" ;;
esac
`

test("without a passphrase the key is in the keyring of the system, and on no command line", async () => {
  await using tmp = await tmpdir()
  const variables = program(tmp, "secret-tool", keyring)
  const log = variables.KEYRING_LOG
  assert.equal((await pipe(tmp, "token", value, variables)).code, 0)
  assert.match((await vitamin(tmp, ["vault", "list"], variables)).out, /^token/)
  const [head] = readFileSync(join(tmp.env.XDG_DATA_HOME!, "vitamin", "vault"), "utf8").split("\n")
  const { id } = JSON.parse(head!).lock
  const key = readFileSync(`${log}.${id}`, "utf8")
  assert.equal(Buffer.from(key, "base64").length, 32)
  assert.ok(!readFileSync(log, "utf8").includes(key.slice(0, 20)))
  const { code, err } = await vitamin(tmp, ["vault", "list"])
  assert.notEqual(code, 0)
  assert.match(err, /its key is in the keyring of the system/)
})

/** Speaks like `security` of macOS, for one entry. */
const security = `#!/bin/sh
echo "$@" >> "$KEYRING_LOG"
case "$1" in
  -i) read command && echo "$command" | sed -E 's/^add-generic-password -U -s vitamin -a ([^ ]+) -w ([^ ]+)$/\\1 \\2/' > "$KEYRING_LOG.entry" ;;
  find-generic-password)
    read id key < "$KEYRING_LOG.entry" && [ "$5" = "$id" ] || { echo "could not be found" >&2; exit 44; }
    echo "$key" ;;
  delete-generic-password) rm "$KEYRING_LOG.entry" ;;
esac
`

function program(tmp: Tmp, name: string, script: string) {
  const folder = dirname(tmp.write(`bin/${name}`, script))
  chmodSync(join(folder, name), 0o700)
  return { PATH: `${folder}:${process.env.PATH}`, KEYRING_LOG: join(tmp.path, "keyring.log") }
}

const asMac = {
  NODE_OPTIONS: `--import=data:text/javascript,Object.defineProperty(process,'platform',{value:'darwin'})`,
}

test("on macOS the key is in the keychain, and on no command line", async () => {
  await using tmp = await tmpdir()
  const variables = { ...program(tmp, "security", security), ...asMac }
  assert.match((await vitamin(tmp, ["doctor"], variables)).out, /^ok +keyring +of the system/m)
  assert.equal((await pipe(tmp, "token", value, variables)).code, 0)
  assert.match((await vitamin(tmp, ["vault", "list"], variables)).out, /^token/)
  const [id, key] = readFileSync(`${variables.KEYRING_LOG}.entry`, "utf8").trim().split(" ")
  assert.match(id!, /^vault_/)
  assert.equal(Buffer.from(key!, "base64").length, 32)
  const called = readFileSync(variables.KEYRING_LOG, "utf8")
  assert.match(called, RegExp(`^find-generic-password -s vitamin -a ${id} -w$`, "m"))
  assert.ok(!called.includes(key!))
  rmSync(`${variables.KEYRING_LOG}.entry`)
  assert.match(
    (await vitamin(tmp, ["vault", "list"], variables)).err,
    /which does not give it\. Unlock the keyring/,
  )
})

test("vitamin doctor says whether the keyring can be used, and what to do otherwise", async () => {
  await using tmp = await tmpdir()
  const doctor = async (variables: Record<string, string>) =>
    (await vitamin(tmp, ["doctor"], variables)).out.replace(/\s+/g, " ")
  const without = /secret-tool is not installed → install libsecret .*or set VITAMIN_VAULT_PASSPHRASE/
  assert.match(await doctor({ PATH: dirname(process.execPath) }), without)
  const working = program(tmp, "secret-tool", "#!/bin/sh\nexit 1\n")
  assert.match(await doctor(working), /ok keyring of the system, for the key of the vault/)
  const broken = "#!/bin/sh\necho 'Cannot autolaunch D-Bus without X11 $DISPLAY' >&2\nexit 1\n"
  assert.match(
    await doctor(program(tmp, "secret-tool", broken)),
    /note keyring the vault cannot use that of the system: secret-tool cannot reach it: Cannot autolaunch .* → unlock or start/,
  )
  assert.match(
    await doctor(withPassphrase),
    /ok keyring not needed: VITAMIN_VAULT_PASSPHRASE opens the vault/,
  )
})

test("the person types passphrase and value unseen in the terminal, and the model gets neither", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    call("secrets_set", { name: "token" }),
    call("secrets_use", { name: "token", command: 'echo "it is $APP_TOKEN"', env: "APP_TOKEN" }),
    text("Done."),
  ])
  const rights = ["--allow", "secret.use:token", "--allow", "bash.execute"]
  await using terminal = openTerminal(tmp, ["run", "--agent", "vault", ...rights, "keep it"], {
    env: env(llm, "chat").variables,
  })
  await terminal.sees(/Vitamin asks:\n {2}The value of the secret token\. The model does not see it\./)
  await terminal.sees(/\[c\]ancel: $/)
  terminal.type("a\n")
  await terminal.sees(/Value of token: $/)
  terminal.type(`${value}\n`)
  await terminal.sees(/Choose a passphrase for the vault/)
  await terminal.sees(/\[c\]ancel: $/)
  terminal.type("a\n")
  await terminal.sees(/ Passphrase: $/)
  terminal.type(`${passphrase}\n`)
  await terminal.sees(/The same again: $/)
  terminal.type(`${passphrase}\n`)
  assert.equal(await terminal.exit, 0, terminal.shown())
  const sent = llm.requests.map(({ raw }) => raw).join("\n")
  assert.match(sent, /it is \[secret token\]/)
  for (const place of [sent, terminal.shown()])
    assert.ok(!place.includes(value) && !place.includes(passphrase), "a typed secret was shown")
})

test("the model sees a value only if a rule allows secret.show of its name", async () => {
  await using tmp = await tmpdir()
  await pipe(tmp, "token", value)
  const shown = async (...rights: string[]) => {
    await using llm = await fakeLlm([call("secrets_use", { name: "token", show: true }), text("Done.")])
    const args = [
      "run",
      "--agent",
      "vault",
      "--yes",
      ...rights.flatMap((rule) => ["--allow", rule]),
      "show it",
    ]
    const { code } = await vitamin(tmp, args, { ...env(llm, "chat").variables, ...withPassphrase })
    return { code, answer: llm.requests[1]!.raw }
  }
  const denied = await shown("secret.use:*", "*:*")
  assert.equal(denied.code, 3)
  assert.match(denied.answer, /secret\.show of \\"token\\" is denied/)
  assert.ok(!denied.answer.includes(value))
  const allowed = await shown("secret.show:token")
  assert.equal(allowed.code, 0)
  assert.ok(allowed.answer.includes(value))
})

test("without a person a secret is not used, and the missing rule is named", async () => {
  await using tmp = await tmpdir()
  await pipe(tmp, "token", value)
  await using llm = await fakeLlm([
    call("secrets_use", { name: "token", command: "ls", env: "A_TOKEN" }),
    text("No."),
  ])
  const variables = { ...env(llm, "chat").variables, ...withPassphrase }
  const { code } = await vitamin(
    tmp,
    ["run", "--agent", "vault", "--allow", "bash.execute", "use it"],
    variables,
  )
  assert.equal(code, 3)
  assert.match(
    llm.requests[1]!.raw,
    /secret\.use of \\"token\\" needs a person's permission.*--allow.*secret\.use:token/,
  )
})

test("the passphrase is not stored under any name, even if the vault was not opened before", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    call("secrets_set", { name: "copy", from: { env: "COPY_TOKEN" } }),
    call("secrets_set", { name: "own", from: { env: "VITAMIN_VAULT_PASSPHRASE" } }),
    text("No."),
  ])
  const variables = { ...env(llm, "chat").variables, ...withPassphrase, COPY_TOKEN: passphrase }
  const args = ["run", "--agent", "vault", "--yes", "--allow", "secret.use:*", "keep it"]
  await vitamin(tmp, args, variables)
  assert.match(llm.requests[1]!.raw, /The value is a key, token or passphrase of vitamin itself/)
  assert.match(llm.requests[2]!.raw, /is one of vitamin itself, which the vault does not take/)
  assert.match((await vitamin(tmp, ["vault", "list"], withPassphrase)).err, /The vault is empty/)
})
