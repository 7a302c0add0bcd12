// The ready-made guards. Most are plain data; the others count.
import { bSync, bThread, type Event } from "#kernel/behavioral/behavioral.ts"
import type { Guards } from "#kernel/schema/schema.ts"
import { createBudget, noRepeats } from "./counting-guards.ts"
import { createGuard, type Data, type Guard } from "./guard.ts"
import type { Detail } from "./guard-event.ts"
import { listOf, matches, sayPatterns } from "./pattern.ts"

type Options = { [Name in ReadyMade]: NonNullable<Guards[Name]> }
type ReadyMade =
  | "read-before-edit"
  | "tests-before-answer"
  | "stories-before-answer"
  | "approve-deploy"
  | "no-network-after-secret"
  | "look-at-diff"
  | "no-repeats"
  | "plan-before-act"
  | "budget"

const testCommands =
  "npm test*, npm run test*, npx vitest*, npx jest*, node --test*, pnpm test*, yarn test*, bun test*, deno test*, pytest*, python -m pytest*, python3 -m pytest*, cargo test*, go test*, make test*, make check*, mvn test*, gradle test*, ./gradlew test*, dotnet test*, bundle exec rspec*, mix test*"
const deployCommands =
  "npm run deploy*, npm publish*, make deploy*, kubectl apply*, helm upgrade*, terraform apply*, fly deploy*, vercel*, netlify deploy*, wrangler deploy*, cdk deploy*, serverless deploy*, ./deploy*, git push*"
const senders =
  "curl, wget, ssh, scp, sftp, rsync, nc, ncat, telnet, ftp, git push, git fetch, git pull, git clone, npm publish, gh, aws, gcloud, az"
const changes = ["file.write", "file.edit"]

/** Undefined if no ready-made guard has this name. */
export function readyMade(name: string, options: object): Guard | undefined {
  if (!Object.hasOwn(makers, name)) return undefined
  return (makers[name as ReadyMade] as (options: object, name: string) => Guard)(options, name)
}

const makers: { [Name in ReadyMade]: (options: Options[Name], name: string) => Guard } = {
  "read-before-edit": ({ paths = "**" }, name) =>
    data(name, {
      each: "path",
      block: [`file.edit:${paths}`, `file.replace:${paths}`],
      until: ["read.done", "write.done"],
      because: "this file was not read in this session",
    }),
  "tests-before-answer": ({ command, paths = "**" }, name) =>
    data(name, {
      when: changes.map((change) => `${change}.done:${paths}`),
      block: "answer",
      until: listOf(command ?? split(testCommands)).map((one) => `bash.execute.done:${one}`),
      because:
        "files were changed, and the tests have not passed since. Run them as a command of their own: a pipe, `;` or `||` would hide how they ended",
    }),
  "stories-before-answer": storiesBeforeAnswer,
  "approve-deploy": ({ command }, name) => {
    const deploys = listOf(command ?? split(deployCommands))
    const actions = deploys.map((one) => `bash.execute:${one}`)
    return data(name, {
      when: ["start", ...actions],
      block: actions,
      until: deploys.map((one) => `approve:${one}`),
      because: "a person must approve each deploy",
    })
  },
  "no-network-after-secret": noNetworkAfterSecret,
  "look-at-diff": lookAtDiff,
  "no-repeats": noRepeats,
  "plan-before-act": planBeforeAct,
  budget: createBudget,
}

function data(name: string, guard: Data): Guard {
  return createGuard(name, guard, "ready-made")
}

function split(list: string): string[] {
  return list.split(", ")
}

/** A call that reads a secret and can send is blocked too: it would need no second call. */
function noNetworkAfterSecret({ block }: Options["no-network-after-secret"], name: string): Guard {
  const sending = block ?? [
    "network.fetch",
    ...split(senders).flatMap((one) => [`bash.execute:${one}`, `bash.execute:${one} *`]),
  ]
  const read = ["secret.read.done", "secret.show.done"]
  const isSending = matches(sending)
  const isReading = matches("secret.read")
  const both = (event: Event) => isReading(event) && isSending(event)
  return Object.freeze({
    name,
    source: "ready-made",
    because: (event: Event) =>
      isReading(event)
        ? "it reads a secret and could send it to the network. Read it in a call of its own, if you must"
        : "a secret was read in this session, so nothing may be sent to the network any more",
    patterns: { when: read, block: listOf(sending), until: [] },
    thread: bThread([bSync({ block: both, waitFor: matches(read) }), bSync({ block: isSending })]),
  })
}

/** One for each file: a run of all stories counts, or one of the stories that import the file. */
function storiesBeforeAnswer({ paths }: Options["stories-before-answer"], name: string): Guard {
  const kinds = paths === undefined ? ["**/*.ts", "**/*.js", "**/*.css", "**/*.html"] : [paths]
  const when = changes.flatMap((change) => kinds.map((kind) => `${change}.done:${kind}`))
  const begins = matches(when)
  const isRun = ({ type }: Event) => type === "world_run.done"
  const valuesOf = ({ type, detail }: Event) => {
    const { path, args } = detail as Detail
    if (type === "answer") return undefined
    if (type !== "world_run.done") return path === undefined ? [] : [path]
    const { stories } = (args ?? {}) as { stories?: unknown }
    return Array.isArray(stories) && stories.length ? stories : undefined
  }
  const rules = [{ waitFor: begins }, { block: ({ type }: Event) => type === "answer", waitFor: isRun }]
  return Object.freeze({
    name,
    source: "ready-made",
    because: "a component was changed, and its stories have not passed since",
    until: "a world_run whose stories pass: of all stories, or with the changed file in `stories`",
    patterns: { when, block: ["answer"], until: ["world_run.done"] },
    each: { key: "path" as const, begins, rules, repeat: true, valuesOf },
  })
}

/** `writes` steps that wait, then one that blocks. A look goes back to the first step. */
function lookAtDiff(
  {
    writes = 5,
    look = ["bash.execute.done:git diff*", "bash.execute.done:git show*"],
  }: Options["look-at-diff"],
  name: string,
): Guard {
  const isLook = matches(look)
  const hasWritten = matches(changes.map((change) => `${change}.done`))
  const waiting = bSync({ waitFor: [hasWritten, isLook] }, (event) => (isLook(event) ? 0 : undefined))
  const blocking = bSync({ block: matches(changes), waitFor: isLook })
  return Object.freeze({
    name,
    source: "ready-made",
    because: `${writes} ${writes === 1 ? "write" : "writes"} without a look at the diff`,
    until: sayPatterns(listOf(look)),
    patterns: { when: changes.map((change) => `${change}.done`), block: changes, until: listOf(look) },
    thread: bThread([...Array<typeof waiting>(writes).fill(waiting), blocking], true),
  })
}

/** The task list without items only shows it. */
function planBeforeAct({ act = changes }: Options["plan-before-act"], name: string): Guard {
  const isPlan = ({ type, detail }: Event) => {
    const { todos } = ((detail as Detail).args ?? {}) as { todos?: unknown }
    return type === "todo.done" && Array.isArray(todos) && todos.length > 0
  }
  return Object.freeze({
    name,
    source: "ready-made",
    because: "there is no plan yet",
    until: "a task list with items (the tool todo)",
    patterns: { when: [], block: listOf(act), until: ["todo.done"] },
    thread: bThread([bSync({ block: matches(act), waitFor: isPlan })]),
  })
}
