// Decides which traces are recorded (`OTEL_TRACES_SAMPLER`). Tasks have the trace of their prompt, so one decision per prompt.
import type { Outer } from "#kernel/trace.ts"

export type Sampler = (traceId: string, outer: Outer | undefined) => boolean

export function createSampler(
  name = "parentbased_always_on",
  argument: string | undefined,
  problems: string[],
): Sampler {
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (kind === undefined)
    problems.push(
      `OTEL_TRACES_SAMPLER is ${JSON.stringify(name)}: use always_on, always_off, traceidratio, or one of them after parentbased_. parentbased_always_on is used`,
    )
  const ratio = kind === "traceidratio" ? ratioOf(argument, problems) : kind === "always_off" ? 0 : 1
  return (traceId, outer) => {
    if ((parentBased || kind === undefined) && outer) return outer.sampled
    // The last 56 bits of an id are random.
    return Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56
  }
}

function ratioOf(said: string | undefined, problems: string[]): number {
  const ratio = said === undefined ? 1 : Number(said)
  if (ratio >= 0 && ratio <= 1) return ratio
  problems.push(
    `OTEL_TRACES_SAMPLER_ARG is ${JSON.stringify(said)}, and a number from 0 to 1 is expected: 1 is used`,
  )
  return 1
}
