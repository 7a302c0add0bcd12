// What the boundary needs of this machine: bubblewrap, bash, user namespaces, and a user other than root.
import { readFileSync, statSync } from "node:fs"
import { userInfo } from "node:os"
import * as Env from "#kernel/process/env.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { NotIsolated } from "./policy.ts"

/** `privately`: the beginning of the command line, so that what is mounted on this machine later does not appear inside. */
export type Tools = { bwrap: string; bash: string; privately: string[] }
/** `drop`: ids to change to. */
export type User = { name: string; isRoot: boolean; drop?: { uid: number; gid: number } }

const install =
  "Install it with apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch) or apk add bubblewrap (Alpine)."
/** What bubblewrap prints, and what would work. The first that fits. */
const failures: [RegExp, string][] = [
  [/unknown option/i, `bubblewrap is too old; version 0.8 is needed. ${install}`],
  [
    /namespace|uid map|gid map|uid_map|max_user_namespaces|No space left on device|unshare/i,
    "this kernel does not let it make user namespaces. Allow them: sysctl kernel.unprivileged_userns_clone=1 (Debian), sysctl kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile for bwrap (Ubuntu), or sysctl user.max_user_namespaces=10000. In a container, allow them for the container.",
  ],
]

/** Throws `NotIsolated` if one is missing. A program in a folder that the sandbox can write is not used. */
export function findTools(writable: string[], { isRoot }: User): Tools {
  if (process.platform !== "linux") throw new NotIsolated(`it needs Linux or macOS, not ${process.platform}.`)
  const isOutside = (folder: string) => !writable.some((place) => isInside(place, folder))
  const [bwrap, bash, unshare] = ["bwrap", "bash", "unshare"].map((name) => findProgram([name], isOutside))
  if (!bwrap) throw new NotIsolated(`bubblewrap (bwrap) is not on the PATH. ${install}`)
  if (!bash) throw new NotIsolated("there is no bash on the PATH.")
  if (!sharesMounts()) return { bwrap, bash, privately: [] }
  if (!unshare) throw new NotIsolated("there is no unshare (util-linux) on the PATH.")
  const user = isRoot ? [] : ["--user", "--map-current-user"]
  return { bwrap, bash, privately: [unshare, ...user, "--mount", "--propagation", "private"] }
}

/** Bubblewrap itself would let later mounts in, with the right to write. */
function sharesMounts(): boolean {
  return / (?:shared|master):\d+ /.test(readFileSync("/proc/self/mountinfo", "utf8"))
}

/** One sentence for what bubblewrap, the launcher or the system said. */
export function explainFailure(text: string): string {
  const said = text
    .trim()
    .replaceAll(/\s*\n\s*/g, "; ")
    .slice(0, 500)
  const known = failures.find(([form]) => form.test(said))?.[1]
  return known ? `${known} (${said})` : said || "it ended without a word."
}

/** As root, the owner of the folder, unless that is root too. */
export function userFor(directory: string): User {
  if (process.getuid?.() !== 0) return { name: ownName(), isRoot: false }
  const { uid, gid } = statSync(directory)
  return uid === 0
    ? { name: "root", isRoot: true }
    : { name: `uid ${uid}`, isRoot: false, drop: { uid, gid } }
}

export const rootIsNoBoundary =
  "it runs as root, because the folder belongs to root: a mistake in the kernel would give it the whole machine. Run vitamin as another user, or give the folder to one."

function ownName(): string {
  try {
    return userInfo().username
  } catch {
    return Env.get("USER") ?? `uid ${process.getuid?.()}`
  }
}
