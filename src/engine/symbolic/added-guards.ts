// Guards that a program added to the current instance, as plain data. They have a file of their own, so that asking whether there
// are any does not load the code of guards.
import { Instance } from "#kernel/instance.ts"
import type { Guards } from "#kernel/schema/schema.ts"

const state = Instance.state((): { guards: Guards } => ({ guards: {} }))

/** Adds guards for prompts that begin later. A guard whose name is taken is left out: guards are never replaced. */
export function addGuards(guards: Guards): void {
  const own = state()
  if (Object.keys(guards).some((name) => !Object.hasOwn(own.guards, name)))
    own.guards = { ...guards, ...own.guards }
}

/** Returns the same object until guards are added, so that callers can compare it. */
export function addedGuards(): Guards {
  return state().guards
}
