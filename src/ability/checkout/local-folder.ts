// The folder of a session on this machine.
import { isAddress } from "./address.ts"

/** A plain folder has the same path on all machines; a checkout is opened here. */
export async function localFolder(place: string): Promise<string> {
  return isAddress(place) ? (await import("./checkout.ts")).open(place) : place
}
