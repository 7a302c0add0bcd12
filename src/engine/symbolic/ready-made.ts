// The ready-made guards. Most are plain data; the others count.
import { bSync, bThread, type Event, type Idiom, type Thread } from "#kernel/behavioral/behavioral.ts"
import type { Guards } from "#kernel/schema/schema.ts"
import { createGuard, type Data, type Guard } from "./guard.ts"
import type { Detail } from "./guard-event.ts"
import { listOf, matches, sayPattern } from "./pattern.ts"

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
  "no-network-after-secret": ({ block }, name) =>
    data(name, {
      when: ["secret.read.done", "secret.show.done"],
      block: block ?? [
        "network.fetch",
        ...split(senders).flatMap((one) => [`bash.execute:${one}`, `bash.execute:${one} *`]),
      ],
      because: "a secret was read in this session, so nothing may be sent to the network any more",
    }),
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

/** One for each file: a run of all stories counts, or one of the stories that import the file. */
function storiesBeforeAnswer({ paths }: Options["stories-before-answer"], name: string): Guard {
  const kinds = paths === undefined ? ["**/*.ts", "**/*.js", "**/*.css", "**/*.html"] : [paths]
  const when = changes.flatMap((change) => kinds.map((kind) => `${change}.done:${kind}`))
  const begins = matches(when)
  const thread = (path: string) => {
    const isEdit = (event: Event) => begins(event) && (event.detail as Detail).path === path
    const isRun = ({ type, detail }: Event) => {
      const { stories } = ((detail as Detail).args ?? {}) as { stories?: unknown }
      return (
        type === "world_run.done" && (!Array.isArray(stories) || !stories.length || stories.includes(path))
      )
    }
    return bThread([bSync({ waitFor: isEdit }), bSync({ block: "answer", waitFor: isRun })], true)
  }
  return Object.freeze({
    name,
    source: "ready-made",
    because: "a component was changed, and its stories have not passed since",
    until: "a world_run whose stories pass: of all stories, or with the changed file in `stories`",
    patterns: { when, block: ["answer"], until: ["world_run.done"] },
    each: { key: "path" as const, begins, thread },
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
    until: listOf(look).map(sayPattern).join(", or "),
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

/** Counts calls in a row with the same tool and arguments, whatever their results are. Three with the same result end the
 * turn (turn/repeats.ts); this guard comes before, and the turn goes on. */
function noRepeats({ times = 2 }: Options["no-repeats"], name: string): Guard {
  const isCall = ({ type, detail }: Event) => (detail as Detail | undefined)?.tool === type
  function* thread(): ReturnType<Thread> {
    let [last, count] = ["", 0]
    const idiom: Idiom = {
      waitFor: isCall,
      block: (event) => count >= times && isCall(event) && last === textOf(event),
    }
    for (;;) {
      const text = textOf(yield idiom)
      count = text === last ? count + 1 : 1
      last = text
    }
  }
  return Object.freeze({
    name,
    source: "ready-made",
    because: `the same call was made ${times} times in a row`,
    until: "another call",
    thread,
  })
}

function textOf({ type, detail }: Event): string {
  return JSON.stringify([type, (detail as Detail).args])
}

/** The answer stays allowed, so that the model can say how far it came. */
function createBudget({ tokens, cost }: Options["budget"], name: string): Guard {
  let spent = { tokens: 0, cost: 0 }
  const isSpent = () => spent.tokens > (tokens ?? Infinity) || spent.cost > (cost ?? Infinity)
  function* thread(): ReturnType<Thread> {
    const own = { tokens: 0, cost: 0 }
    const idiom: Idiom = {
      waitFor: "usage",
      block: (event) => {
        spent = own
        return isSpent() && (event.detail as Detail | undefined)?.tool === event.type
      },
    }
    for (;;) {
      const { detail } = yield idiom
      own.tokens += (detail as Detail).tokens ?? 0
      own.cost += (detail as Detail).cost ?? 0
    }
  }
  const because = () => {
    const used = [
      ...(tokens === undefined ? [] : [`${spent.tokens} of ${tokens} tokens`]),
      ...(cost === undefined ? [] : [`$${spent.cost.toFixed(4)} of $${cost}`]),
    ]
    return `the budget of this session is spent (${used.join(", ")}). Answer with what you have`
  }
  return Object.freeze({ name, source: "ready-made", because, thread })
}
