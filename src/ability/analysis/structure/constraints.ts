// The constraints on structure, as behavioral threads: every object, block, channel and loop of a template is offered as
// an event, and what a thread blocks breaks the rule that the thread is named after.

import type { Report, RuleName } from "#ability/analysis/term/finding.ts"
import type { Block, Channel, Loop, StructuralObject, Structure } from "#ability/analysis/term/vocabulary.ts"
import { behavioral, bSync, bThread, type Event, type Thread } from "#kernel/behavioral/behavioral.ts"

type Offer =
  | { type: "object"; detail: StructuralObject }
  | { type: "block"; detail: Block }
  | { type: "channel"; detail: Channel }
  | { type: "loop"; detail: Loop }

/** Blocks what breaks the rule, for ever. */
const never = (breaks: (offer: Offer) => boolean): Thread =>
  bThread([bSync({ block: (event: Event) => breaks(event as Offer) })])

/** `hasTarget`: whether an element with this id may be there. */
export function checkStructure(
  structure: Structure,
  hasTarget: (id: string) => boolean,
  report: Report,
): void {
  const program = behavioral()
  for (const [rule, thread] of Object.entries(constraints(hasTarget))) program.addThread(rule, thread)
  for (const offer of offersOf(structure))
    for (const rule of program.trigger(offer).blockedBy)
      report(
        rule as RuleName,
        offer.detail.at,
        sentenceOf(rule as keyof ReturnType<typeof constraints>, offer),
      )
}

function constraints(hasTarget: (id: string) => boolean) {
  return {
    "object/empty": never(({ type, detail }) => type === "object" && detail.isEmpty),
    "channel/nowhere": never(({ type, detail }) => type === "channel" && detail.target === undefined),
    "channel/missing-target": never(({ type, detail }) => {
      const id = type === "channel" ? fragmentOf(detail.target) : undefined
      return id !== undefined && !hasTarget(id)
    }),
    "loop/no-handler": never(({ type, detail }) => type === "loop" && !detail.hasHandler),
    "loop/no-response": never(
      ({ type, detail }) => type === "loop" && detail.hasHandler && detail.response === undefined,
    ),
    "block/unnamed": uniqueLandmarks,
  } satisfies Partial<Record<RuleName, Thread>>
}

/** After a landmark, another one of the same role without a name is blocked. */
function* uniqueLandmarks(): Generator<
  { waitFor: (event: Event) => boolean; block: (event: Event) => boolean },
  void,
  Event
> {
  const seen = new Set<string>()
  const isUnnamed = ({ type, detail }: Offer) =>
    type === "block" && detail.kind === "landmark" && !detail.isNamed
  for (;;) {
    const event = yield {
      waitFor: (event) => isUnnamed(event as Offer),
      block: (event) => isUnnamed(event as Offer) && seen.has((event.detail as Block).role),
    }
    seen.add((event.detail as Block).role)
  }
}

function* offersOf(structure: Structure): Generator<Offer> {
  for (const detail of structure.objects) yield { type: "object", detail }
  for (const detail of structure.blocks) yield { type: "block", detail }
  for (const detail of structure.channels) yield { type: "channel", detail }
  for (const detail of structure.loops) yield { type: "loop", detail }
}

function fragmentOf(target: string | undefined): string | undefined {
  const id = target?.startsWith("#") ? target.slice(1) : ""
  return id && !id.includes("…") && id !== "top" ? id : undefined
}

function sentenceOf(rule: keyof ReturnType<typeof constraints>, { detail }: Offer): string {
  const { name } = detail
  switch (rule) {
    case "object/empty":
      return `${name} has no content.`
    case "channel/nowhere":
      return `The link ${name} leads nowhere.`
    case "channel/missing-target":
      return `${name} refers to ${(detail as Channel).target}, which is not there.`
    case "loop/no-handler":
      return `Nothing happens when a person uses ${name}: it has no handler.`
    case "loop/no-response":
      return `A person who uses ${name} sees no response.`
    case "block/unnamed":
      return `There are two landmarks of the role ${(detail as Block).role}, and this one has no name.`
  }
}
