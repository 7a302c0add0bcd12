// The rules of a prompt, layer over layer, and the remembered answers of a person. A task has its own rights, limited
// by those of its parent, and so on up to the prompt of a person.
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** An approval preset: "sandboxed" asks only for what would leave a sandbox. */
export type Preset = "ask" | "sandboxed"
type Agent = { id: string; permissions: readonly Permission.Rule[] }
/** A running session, and the rules that the person gave for it alone. */
type Link = {
  session: Pick<SessionRecord.Info, "id" | "mode">
  agent: Agent
  flags: readonly Permission.Rule[]
  /** What the command of the prompt allows. Its tasks do not have it. */
  command: readonly Permission.Rule[]
  preset: Preset | undefined
}
type Stack = { agent: string; layers: Permission.Layer[] }
/** The rules at one moment. */
export type Verdicts = Readonly<{
  decide(need: Permission.Need): Permission.Decision
  /** The agents of the chain that must ask: "always" is remembered for these. */
  askers(needs: Permission.Need[]): string[]
}>

type Sources = { config: Permission.Layer[]; grants: Grant.Info[]; hasSecrets: boolean }
type Asked = {
  needs: Permission.ShownNeed[]
  agents: string[]
  /** Whether the call would be allowed. */
  isAllowedBy(decide: Verdicts["decide"]): Promise<boolean>
}

export type Rights = Readonly<{
  /** The session, its parent, and so on. The last one got its prompt from a person. */
  chain: readonly [Link, ...Link[]]
  /** The same object as long as the rules are the same. */
  now(): Promise<Verdicts>
  /** Remember "always" for the needs that were asked about, for the agents that the question named. */
  remember(asked: Asked, details: Permission.Details): Promise<void>
}>

const filePermissions = ["file.read", "file.write", "file.edit"]

/** A rule that cannot be used throws `Permission.InvalidRule`. */
export function createRights(options: {
  session: Link["session"]
  agent: Agent
  /** For this prompt and its tasks only. */
  rules?: readonly Permission.Rule[]
  /** What the command of this prompt allows. Every other rule goes before it. */
  command?: readonly Permission.Rule[]
  /** Folders beside the workspace that may be read like it. */
  directories?: readonly string[]
  preset?: Preset | undefined
  parent?: Rights | undefined
}): Rights {
  const { session, agent, rules = [], command = [], directories = [], parent } = options
  Permission.checkLayer({ source: "session", rules })
  const above = parent?.chain ?? []
  const flags = [...(above[0]?.flags ?? []), ...rules]
  const preset = parent ? above[0]!.preset : options.preset
  const chain = Object.freeze<[Link, ...Link[]]>([{ session, agent, flags, command, preset }, ...above])
  const { id: sessionId } = chain.at(-1)!.session

  const holdsSecrets = createHoldsSecrets()
  let last: { parts: unknown[]; verdicts: Verdicts } | undefined

  async function now(): Promise<Verdicts> {
    const config = await Config.rules()
    const grants = await Grant.list()
    const hasSecrets = holdsSecrets(Instance.worktree)
    const modes = chain.map(({ session }) => session.mode)
    const parts = [hasSecrets, ...modes, ...config.map(({ rules }) => rules), ...grants]
    if (last && isSame(last.parts, parts)) return last.verdicts
    const verdicts = verdictsOf(stacksOf({ config, grants, hasSecrets }))
    last = { parts, verdicts }
    return verdicts
  }

  function verdictsOf(stacks: Stack[]): Verdicts {
    return {
      decide: (need) =>
        Permission.evaluateAll(need, stacks.map(({ layers }) => layers) as [Permission.Layer[]]),
      askers(needs) {
        const asking = stacks.filter((stack) => needs.some((need) => asks(stack, need)))
        return [...new Set(asking.map(({ agent }) => agent))]
      },
    }
  }

  async function remember({ needs, agents, isAllowedBy }: Asked, details: Permission.Details): Promise<void> {
    const { scope = "project", expires, edits } = details
    const { askers } = await now()
    if (details.rules) return rememberWritten({ needs, agents, isAllowedBy }, details)
    if (edits)
      return rememberEdits(
        askers(needs).filter((agent) => agents.includes(agent)),
        expires,
      )
    // Rules may have changed since the question: agents that it did not name get nothing from the answer.
    for (const need of needs)
      for (const agent of askers([need]).filter((agent) => agents.includes(agent))) {
        const { rules, fingerprint } = need
        await Grant.create({ agent, sessionId, scope, expires, rules, fingerprint })
      }
  }

  async function rememberEdits(agents: string[], expires: number | undefined): Promise<void> {
    const rules = Grant.allEdits()
    for (const agent of agents) await Grant.create({ agent, sessionId, scope: "session", expires, rules })
  }

  /** Stores the rules that the person wrote, if they allow the call together with those that apply already. */
  async function rememberWritten(asked: Asked, details: Permission.Details): Promise<void> {
    const { scope = "project", expires } = details
    const { askers } = await now()
    const drafts = Permission.writtenRules(asked, "always", details).flatMap((rule) => {
      const needs = asked.needs.filter(({ permission }) => permission === rule.permission)
      // A rule that was not changed is what was shown.
      const shown = needs.find(({ rules }) => rules.some(({ pattern }) => pattern === rule.pattern))
      const meant = shown ? { fingerprint: shown.fingerprint } : { written: true as const }
      const agents = askers(needs).filter((agent) => asked.agents.includes(agent))
      return agents.map((agent) => ({ agent, sessionId, scope, expires, rules: [rule], ...meant }))
    })
    const grants = [...(await Grant.list()), ...drafts.flatMap(Grant.grantsOf)]
    const sources = { config: await Config.rules(), grants, hasSecrets: holdsSecrets(Instance.worktree) }
    if (!(await asked.isAllowedBy(verdictsOf(stacksOf(sources)).decide)))
      throw new Permission.InvalidReply("always", "the rules do not allow what was asked for")
    for (const draft of drafts) await Grant.create(draft)
  }

  function stacksOf({ config, grants, hasSecrets }: Sources): Stack[] {
    return chain.map(({ session, agent, flags, command, preset }) => {
      const others: Permission.Layer[] = [
        { source: "agent", rules: agent.permissions },
        ...config,
        { source: "grant", rules: Grant.rulesOf(grants, { agent: agent.id, sessionId }) },
        { source: "session", rules: flags },
        ...(session.mode === "plan" ? [{ source: "mode", rules: Permission.planner }] : []),
      ]
      return {
        agent: agent.id,
        layers: [
          { source: "default", rules: defaultsBelow(others, hasSecrets) },
          // Lowest: rules of agents and of the person come after it.
          ...(preset === "sandboxed" ? [{ source: "preset", rules: Permission.sandboxed }] : []),
          ...(command.length ? [{ source: "command", rules: command }] : []),
          ...others,
        ].map((layer) => withFolders(layer, directories)),
      }
    })
  }

  return Object.freeze({ chain, now, remember })
}

/** What the rules say about a file that is sent to the model without a call. Files that usually contain secrets are denied
 * unless a rule names them. */
export async function readingBy(rights: Rights): Promise<(path: string) => Permission.Action> {
  const { decide } = await rights.now()
  return (target) => {
    const decision = decide({ permission: "file.read", target })
    if (!Permission.isSecretFile(target)) return decision.action
    return Permission.guarded(decision).action === "allow" ? "allow" : "deny"
  }
}

/** Git shows the content of every file. It runs without asking only if no rule denies reading a file, and the
 * workspace contains none of our files with keys and tokens. */
function defaultsBelow(others: Permission.Layer[], hasSecrets: boolean): readonly Permission.Rule[] {
  const keepsFiles = others.some(({ rules }) =>
    rules.some((rule) => rule.action !== "allow" && Permission.covers(rule, "file.read")),
  )
  if (keepsFiles || hasSecrets) return Permission.defaults
  return [...Permission.defaults, ...Permission.gitReading]
}

/** Rules for files anywhere in the workspace, such as `**` or one for all `.pem` files, also hold in the folders beside it. Those for
 * one place of the workspace do not. */
function withFolders(layer: Permission.Layer, folders: readonly string[]): Permission.Layer {
  if (!folders.length) return layer
  const isAnywhere = (rule: Permission.Rule) =>
    filePermissions.some((name) => Permission.covers(rule, name)) && rule.pattern.startsWith("**")
  const rules = layer.rules.flatMap((rule) =>
    isAnywhere(rule)
      ? [rule, ...folders.map((folder) => ({ ...rule, pattern: `${folder}/${rule.pattern}` }))]
      : [rule],
  )
  return { ...layer, rules }
}

/** Returns a function that compares again only if the folder or the places changed: it runs for every call. */
function createHoldsSecrets(): (folder: string) => boolean {
  let last: { folder: string; places: unknown; result: boolean } | undefined
  return (folder) => {
    const places = SecretFiles.places()
    if (last?.folder === folder && last.places === places) return last.result
    const root = folder.toLowerCase()
    last = { folder, places, result: places.some(({ path }) => isInside(root, path)) }
    return last.result
  }
}

function isSame(before: unknown[], now: unknown[]): boolean {
  return before.length === now.length && before.every((part, i) => part === now[i])
}

function asks({ layers }: Stack, need: Permission.Need): boolean {
  return Permission.evaluate(need, ...layers).action === "ask"
}
