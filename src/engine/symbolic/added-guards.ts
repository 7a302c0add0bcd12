// Guards that a program added to the current instance, as data. They are apart from the code of guards, which is loaded only if
// there are some.
import { Instance } from "#kernel/instance.ts"
import type { Guards } from "#kernel/schema/schema.ts"

const state = Instance.state((): { guards: Guards } => ({ guards: {} }))

/** For prompts that begin later. A guard that was added before stays as it is: guards are never replaced. */
export function addGuards(guards: Guards): void {
  const own = state()
  if (Object.keys(guards).some((name) => !Object.hasOwn(own.guards, name)))
    own.guards = { ...guards, ...own.guards }
}

/** The same object as long as they are the same. */
export function addedGuards(): Guards {
  return state().guards
}
