// Files of vitamin with keys and tokens: which paths and commands name them, and which rules allow that.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Global from "#kernel/process/global.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const rule = (permission: string, pattern: string, action: "allow" | "ask" | "deny" = "allow") => ({
  permission,
  pattern,
  action,
})
const wide = [rule("file.*", "/**"), rule("bash.execute", "*"), rule("*", "*")]

function judge(permission: string, target: string, rules: Permission.Rule[] = wide) {
  return Permission.evaluate({ permission, target }, { source: "user", rules })
}

/** As on most machines: the usual folders below the home. */
async function withHome(fn: (paths: { home: string; tmp: Tmp }) => void): Promise<void> {
  await using tmp = await tmpdir()
  const home = process.env.HOME!
  const before = { ...process.env }
  process.env.XDG_STATE_HOME = ""
  process.env.XDG_DATA_HOME = ""
  mkdirSync(join(home, ".local/state/vitamin"), { recursive: true })
  mkdirSync(join(home, ".local/share/vitamin"), { recursive: true })
  try {
    fn({ home, tmp })
  } finally {
    Object.assign(process.env, before)
  }
}

test("no rule with a wildcard above the secret files allows access to them", () =>
  withHome(({ home }) => {
    const files = [
      Global.state(),
      join(Global.state(), "token"),
      join(Global.state(), "events/1"),
      join(Global.data(), "auth.json"),
      join(Global.data(), "auth.json.123.abcd"),
      join(Global.data(), "mcp-auth.json"),
      join(home, ".local/./state/x/../vitamin/token"),
      join(home, ".LOCAL/State/Vitamin/TOKEN"),
    ]
    for (const file of files)
      for (const permission of ["file.read", "file.write", "file.edit"]) {
        const { action, secret } = judge(permission, file)
        assert.deepEqual([action, secret], ["deny", true], `${permission} ${file}`)
      }
    for (const file of [join(Global.data(), "outputs/a.txt"), join(home, ".local/state/vitamin-2/token")])
      assert.equal(judge("file.read", file).action, "allow", file)
  }))

test("a rule that names a secret file or its folder applies to it", () =>
  withHome(() => {
    const token = join(Global.state(), "token")
    const auth = join(Global.data(), "auth.json")
    const named = (pattern: string, action: "allow" | "ask" | "deny" = "allow") =>
      judge("file.read", token, [rule("file.read", pattern, action), ...wide])
    for (const pattern of [token, `${Global.state()}/`, `${Global.state()}/**`, `${Global.state()}/to*`])
      assert.equal(named(pattern).action, "allow", pattern)
    assert.deepEqual([named(token, "ask").action, named(token, "ask").protected], ["ask", true])
    assert.equal(named(token, "deny").action, "deny")
    assert.equal(judge("file.read", auth, [rule("file.read", `${Global.data()}/**`)]).action, "deny")
    assert.equal(judge("file.read", auth, [rule("file.read", auth)]).action, "allow")
    assert.equal(
      judge("file.read", token, [rule("file.read", token), rule("file.*", "*", "deny")]).action,
      "deny",
    )
  }))

test("a command that names secret files, in any spelling, is denied", () =>
  withHome(({ home }) => {
    const state = join(home, ".local/state/vitamin")
    const commands = [
      "cat ~/.local/state/vitamin/token",
      `cat ${state}/token`,
      `cat "${state}"/token`,
      "cat $HOME/.local/state/vitamin/token",
      `cat "\${HOME}/.local/state/vitamin/token"`,
      `cat "\${XDG_STATE_HOME:-$HOME/.local/state}/vitamin/token"`,
      "cat ~/.local/state/vit*/token",
      "cat ~/.local/*/vitamin/token",
      "cat ~/.local/state/vitamin/t?ken",
      "cat ~/.local/state/{vitamin,x}/token",
      `cat '${state}/tok'en`,
      "cd ~/.local/state/vitamin && cat token",
      "TOKEN=$(cat ~/.local/state/vitamin/token) && curl localhost:3141",
      "curl -d @$HOME/.local/state/vitamin/token http://localhost",
      "curl -F file=@$HOME/.local/share/vitamin/auth.json http://localhost",
      "cp ~/.local/share/vitamin/mcp-auth.json /tmp/x",
      "ls; tail -f ~/.local/state/vitamin/token | nc localhost 1",
      "base64 < ~/.local/state/vitamin/token",
    ]
    for (const command of commands) {
      const { action, secret } = judge("bash.execute", command)
      assert.deepEqual([action, secret], ["deny", true], command)
    }
    for (const command of [
      "ls ~/.local/state",
      "cat token",
      "cat src/auth.json",
      "cat ~/.local/state/vitamin-2/token",
      "ls ~/.local/share/vitamin/outputs",
      "echo $HOME",
      "cat src/*/token.ts",
    ])
      assert.equal(judge("bash.execute", command).secret, undefined, command)
  }))

test("a rule for exactly that command, or one that names the secret files, allows it", () =>
  withHome(({ home }) => {
    const command = `cat ${home}/.local/state/vitamin/token`
    const allows = (pattern: string) =>
      judge("bash.execute", command, [rule("bash.execute", pattern), rule("bash.execute", "*")]).action
    assert.equal(allows(command), "allow")
    assert.equal(allows(`cat ${home}/.local/state/vitamin/*`), "allow")
    assert.equal(allows("cat *"), "deny")
  }))

test("a link to the folder of secrets is treated like the folder", () =>
  withHome(({ home, tmp }) => {
    process.env.XDG_STATE_HOME = join(tmp.path, "linked")
    symlinkSync(join(home, ".local/state"), join(tmp.path, "linked"))
    for (const folder of [join(tmp.path, "linked"), join(home, ".local/state")])
      assert.equal(judge("file.read", join(folder, "vitamin/token")).secret, true, folder)
  }))

test("the refusal says which rule would allow it", () =>
  withHome(() => {
    const target = join(Global.state(), "token")
    const need = { permission: "file.read", target }
    assert.equal(
      Permission.sayDenied("read", { ...need, ...judge("file.read", target) }),
      `"read" was not run: file.read of ${JSON.stringify(target)} would reach vitamin's own keys and tokens. Only a rule that names them allows it: --allow "file.read:${target}"`,
    )
  }))

test("a state folder that appears later as a link is denied by its real path too", () =>
  withHome(({ home, tmp }) => {
    const real = join(tmp.path, "elsewhere")
    mkdirSync(real)
    process.env.XDG_STATE_HOME = join(home, "state-to-come")
    SecretFiles.register()
    assert.equal(judge("file.read", join(real, "token")).action, "allow")
    mkdirSync(process.env.XDG_STATE_HOME)
    symlinkSync(real, Global.state())
    SecretFiles.register()
    assert.equal(judge("file.read", join(real, "token")).action, "deny")
  }))
