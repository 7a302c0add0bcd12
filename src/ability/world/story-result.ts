// The outcome of one story, and the event that reports it.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"

const Violation = z.object({
  id: about("Rule of axe-core, such as `color-contrast`.", z.string()),
  impact: about("How much it matters: `minor`, `moderate`, `serious` or `critical`.", z.string()),
  help: about("What the rule asks for.", z.string()),
  targets: about("CSS selectors of elements that break it.", z.array(z.string())),
})

export const StoryResult = z.object({
  file: about("Story file, from the project folder.", z.string()),
  name: about("Name of the export; empty if the file itself could not be loaded.", z.string()),
  intent: about("What the story shows.", z.string()),
  status: about("Whether it passed.", z.enum(["passed", "failed"])),
  problems: about("Why the story failed, one line each.", z.array(z.string())),
  assertions: about(
    "What `play` asserted.",
    z.object({
      passed: about("How many held.", z.int()),
      failed: about("How many did not.", z.int()),
    }),
  ),
  violations: about("What axe-core found; missing if it did not check.", z.array(Violation)).optional(),
  snapshot: about("Accessibility tree after `play`, as YAML.", z.string()).optional(),
  screenshot: about("Picture of the page after `play` (PNG).", z.string()).optional(),
  duration: about("Milliseconds.", z.number()),
  modules: about("Files of the project that the story imports.", z.array(z.string())),
})
export type StoryResult = z.infer<typeof StoryResult>

/** A story that a session ran, as it is stored. */
export const StoredStory = StoryResult.omit({ screenshot: true }).extend({
  callId: z.string().describe("the call of `world_run`, as its folder is named"),
  number: z.number().int().describe("of the story in its call, from 1"),
  time: z.number().describe("when it ended, in milliseconds since 1970"),
  hasPicture: z.boolean(),
})
export type StoredStory = z.infer<typeof StoredStory>

/** With the picture in memory. */
export type Outcome = Omit<StoryResult, "screenshot"> & { picture?: Buffer }

export const Finished = Bus.define(
  "story.finished",
  z.object({ sessionId: z.string(), callId: z.string(), story: about("The outcome.", StoryResult) }),
  { when: "A story of a `world_run` call passed or failed." },
)
