// The tool `world_run`: runs the stories of the project in a real browser, for the agent that repairs a component.
import { z } from "zod"
import { findBrowser } from "#ability/browser/find-browser.ts"
import type { Context, Definition, Json, Output } from "#ability/call/types.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { createWorld } from "./create-world.ts"
import { sayStory, sayTotal } from "./say-story.ts"
import { storeStory } from "./stored-stories.ts"
import { Finished, type Outcome } from "./story-result.ts"

const Parameters = z.strictObject({ stories: z.array(z.string().min(1).max(1_000)).max(50).optional() })
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manuals = {
  world_run: {
    example: { stories: ["src/counter.ts"] },
    arguments: {
      stories: "Story files by glob, or files whose stories are run; without it all stories.",
    },
    limits:
      "Only in a trusted folder. 5 s for a story, unless it says otherwise. The model gets the pictures of three failed stories.",
  },
}

const maxPictures = 3
const maxTree = 2_000

/** None if playwright-core or a Chromium is missing. */
export async function worldTools(): Promise<Definition[]> {
  return Array.isArray(findBrowser()) ? [] : definitions
}

export const definitions: Definition[] = [
  Object.freeze({
    id: "world_run",
    description:
      "Run stories (*.stories.ts) in a real browser. Give story files, or the component that you changed, to run only its stories. Returns which stories passed, why others failed, and what they show.",
    category: "code",
    parameters: Parameters,
    readOnly: false,
    onlyNamed: true,
    routingName: "exec_world_run",
    execute: (args, context) => runStories(args as Args, context),
  } satisfies Definition),
]

async function runStories({ stories = [] }: Args, context: Context): Promise<Output> {
  const { signal } = context
  const world = await createWorld(Instance.directory)
  try {
    const files = await world.select({ patterns: stories, signal })
    if (!files.length)
      throw new NamedError(
        "World.NoStories",
        `No story file (*.stories.ts) ${stories.length ? `fits or imports ${stories.join(", ")}` : "is in this folder"}.`,
      )
    const published: Promise<void>[] = []
    const onOutcome = (outcome: Outcome) => {
      context.report?.(`${sayStory(outcome)}\n`)
      published.push(publish(outcome, { context, number: published.length + 1 }))
    }
    const outcomes = await world.run(files, { signal, onOutcome })
    await Promise.all(published)
    return outputOf(outcomes)
  } finally {
    await world.close()
  }
}

/** The picture is in a file, whose path the event has. */
async function publish(
  outcome: Outcome,
  { context, number }: { context: Context; number: number },
): Promise<void> {
  const { sessionId, callId } = context
  const screenshot = await storeStory(outcome, { sessionId, callId, number })
  const { picture: _, ...story } = outcome
  Bus.publish(Finished, { sessionId, callId, story: { ...story, ...(screenshot ? { screenshot } : {}) } })
}

function outputOf(outcomes: readonly Outcome[]): Output {
  const failed = outcomes.filter(({ status }) => status === "failed")
  const images = failed
    .flatMap(({ picture }) => picture ?? [])
    .slice(0, maxPictures)
    .map((picture) => ({ data: picture.toString("base64"), mimeType: "image/png" }))
  const total = sayTotal(outcomes)
  const results: Json = outcomes.map(({ file, name, status, assertions, violations }) => ({
    file,
    name,
    status,
    assertions,
    ...(violations ? { violations: violations.length } : {}),
  }))
  return {
    text: [...outcomes.map(withTree), total].join("\n"),
    title: total,
    // As a command that runs tests: guards take another code than 0 for a failure.
    data: { exitCode: failed.length ? 1 : 0, stories: results },
    ...(images.length ? { images } : {}),
  }
}

/** A failed story with what a person would see and hear. */
function withTree(outcome: Outcome): string {
  const said = sayStory(outcome)
  if (outcome.status === "passed" || !outcome.snapshot) return said
  const tree = Secret.cut(outcome.snapshot, maxTree).replace(/^/gm, "    ")
  return `${said}\n    It shows:\n${tree}`
}
