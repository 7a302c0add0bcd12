// Work on a session whose folder is a checkout that other machines share. In a plain folder nothing is loaded or done.
import { Instance } from "#kernel/instance.ts"

/** Before work: another machine may have gone on with the files. */
export async function refreshCheckout(): Promise<void> {
  if (Instance.project.place !== undefined) await (await import("#ability/checkout/checkout.ts")).refresh()
}

/** After work that may have changed files. `paths`: what was written, also if git ignores it. */
export async function keepCheckout(paths: readonly string[] = []): Promise<void> {
  if (Instance.project.place !== undefined) await (await import("#ability/checkout/checkout.ts")).keep(paths)
}
