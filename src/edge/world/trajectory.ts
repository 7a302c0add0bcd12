// What an agent did for one prompt, and how well it ended: a line of JSON for each prompt, to learn from.
import { appendFile } from "node:fs/promises"
import { Finished, type StoryResult } from "#ability/world/story-result.ts"
import type * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

/** How the stories were when the prompt ended. Each part is from 0 to 1, the average over the stories. */
export type Reward = { story: number; accessibility: number; assertions: number; total: number }
/** `stories`: the last outcome of each. `failed` and `interrupted`: there is no answer. */
export type Trajectory = {
  time: string
  sessionId: string
  ended: "answered" | "failed" | "interrupted"
  messages: Message.Info[]
  stories: Omit<StoryResult, "screenshot">[]
  reward: Reward
}
export type Recorder = Readonly<{
  hear(event: Bus.Event): void
  /** The last text of the model in the session of the prompt. */
  answer(): Message.Info | undefined
  end(ended: Trajectory["ended"]): Trajectory
}>

const weights = { story: 0.5, accessibility: 0.3, assertions: 0.2 }

/** Events are those of one prompt, in order; secrets are redacted in them. */
export function createRecorder(): Recorder {
  const messages = new Map<string, Message.Info>()
  const stories = new Map<string, StoryResult>()
  let sessionId: string | undefined

  function hear({ type, payload }: Bus.Event): void {
    if (type === Finished.type) {
      const { story } = payload as { story: StoryResult }
      stories.set(JSON.stringify([story.file, story.name]), story)
    }
    if (type !== MessageStore.Created.type && type !== MessageStore.Updated.type) return
    const { message } = payload as { message: Message.Info }
    sessionId ??= message.sessionId
    messages.set(message.id, message)
  }

  function answer(): Message.Info | undefined {
    const own = [...messages.values()].filter((message) => message.sessionId === sessionId)
    return own.findLast((message) => message.type === "text" && message.data.role === "assistant")
  }

  function end(ended: Trajectory["ended"]): Trajectory {
    const last = [...stories.values()]
    return {
      time: new Date().toISOString(),
      sessionId: sessionId ?? "",
      ended,
      messages: [...messages.values()],
      stories: last.map(({ screenshot: _, ...story }) => story),
      reward: rewardOf(last),
    }
  }

  return Object.freeze({ hear, answer, end })
}

/** A story that was not checked has no points for accessibility, and without stories there are none at all. */
function rewardOf(stories: readonly StoryResult[]): Reward {
  const average = (points: (story: StoryResult) => number) =>
    stories.reduce((sum, story) => sum + points(story), 0) / Math.max(1, stories.length)
  const story = average(({ status }) => (status === "passed" ? 1 : 0))
  const accessibility = average(({ violations }) => (violations?.length === 0 ? 1 : 0))
  const assertions = average(shareOf)
  const total =
    weights.story * story + weights.accessibility * accessibility + weights.assertions * assertions
  return { story, accessibility, assertions, total: Math.round(total * 1_000) / 1_000 }
}

export async function writeTrajectory(file: string, trajectory: Trajectory): Promise<void> {
  await appendFile(file, `${JSON.stringify(trajectory)}\n`, { mode: 0o600 })
}

/** A story that asserts nothing asserts that it passes. */
function shareOf({ status, assertions: { passed, failed } }: StoryResult): number {
  if (passed + failed === 0) return status === "passed" ? 1 : 0
  return passed / (passed + failed)
}
