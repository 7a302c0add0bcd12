// Routes for trust: the files of the folder that wait for review, and accepting them as they were shown.
import { z } from "zod"
import { lineDiff } from "#ability/file/line-diff.ts"
import { markName } from "#ability/shell/environment.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { loadTrusted } from "#engine/host/load-trusted.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"
import { hashOf } from "#kernel/reviewed/reviewed.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"

const Change = z.object({
  path: about("From the work tree.", z.string()),
  state: about("Since the last review.", z.enum(["new", "changed", "removed"])),
  hash: about("SHA-256 of the present content; missing if the file is gone.", z.string().optional()),
  bytes: about("Size of the present content.", z.number().int().optional()),
  diff: about(
    "Difference to the reviewed content, or the whole text; missing if it cannot be shown as text.",
    z.string().optional(),
  ),
  additions: about("Lines that were added.", z.number().int()),
  deletions: about("Lines that were removed.", z.number().int()),
})
type Change = z.infer<typeof Change>

export function trustRoutes(): Route[] {
  return [
    defineRoute({
      id: "listUntrusted",
      method: "GET",
      role: "admin",
      path: "/trust",
      summary:
        "The files of the folder that can run something or allow something and wait for a person's review, each with its difference.",
      response: z.object({
        directory: about("The work tree.", z.string()),
        isTrusted: about(
          "Whether a person has reviewed the folder; single files may still wait.",
          z.boolean(),
        ),
        changes: z.array(Change),
      }),
      async handle() {
        const changes = await Trust.pending(Instance.directory)
        return {
          directory: Trust.rootOf(Instance.directory),
          isTrusted: await Trust.check(Instance.directory),
          changes: changes.map(shown),
        }
      },
    }),
    defineRoute({
      id: "trustFiles",
      method: "POST",
      role: "admin",
      path: "/trust",
      summary:
        "Trust files that a person has reviewed, with the hash that was shown. Answers 409, and trusts nothing, if one has changed meanwhile.",
      body: z.object({
        files: z
          .array(
            z.object({
              path: z.string(),
              hash: about("As listed; missing for a file that is gone.", z.string().optional()),
            }),
          )
          .min(1)
          .max(10_000),
      }),
      response: z.object({
        trusted: about("Paths, from the work tree.", z.array(z.string())),
        problems: about("What is wrong with the trusted files, one line each.", z.array(z.string())),
      }),
      errors: [409],
      async handle({ body: { files } }) {
        // Otherwise a terminal that a command of the model starts could trust a file that the model has just written. A command
        // that reaches another server is stopped only by not having its token.
        if (Env.get(markName))
          throw new NamedError("Trust.Denied", "A command that vitamin runs cannot grant trust.")
        const { directory } = Instance
        const changes = await Trust.pending(directory)
        const accepted = files.map(({ path, hash }) => {
          const change = changes.find((one) => one.path === path && shownHash(one) === hash)
          if (change) return change
          throw new NamedError(
            "Trust.Conflict",
            `${JSON.stringify(path)} does not wait for review with this content: it has changed since it was shown, or was reviewed already.`,
            { path },
          )
        })
        await Trust.accept(directory, accepted)
        const problems = await loadTrusted(Trust.rootOf(directory))
        await Config.reload()
        return { trusted: accepted.map(({ path }) => path), problems }
      },
    }),
  ]
}

function shown(change: Trust.Change): Change {
  const { path, state, before, after } = change
  const text = after && Trust.textOf(after)
  const hash = shownHash(change)
  const { diff, additions, deletions } = lineDiff(before ?? "", text ?? "", { isWhole: true })
  return {
    path,
    state,
    ...(after && hash ? { hash, bytes: after.length } : {}),
    ...(after && text === undefined ? {} : { diff }),
    additions,
    deletions,
  }
}

function shownHash({ after }: Trust.Change): string | undefined {
  return after && hashOf(after)
}
