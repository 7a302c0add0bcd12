// How a person starts this program, for hints that name a command: `vitamin`, or `npx vitamin` if npx started it.

/** npx sets these variables. A package that it has fetched needs its full name, because npm has another package
 * `vitamin`. In a checkout this file is not below `_npx`, which then has only a link to it. */
const isByNpx =
  process.env.npm_command === "exec" && /^['"]?vitamin\b/.test(process.env.npm_lifecycle_script ?? "")
const isFetched = /[\\/]_npx[\\/]/.test(import.meta.url)

export const ownCommand = !isByNpx ? "vitamin" : isFetched ? "npx @vitamin-agent/vitamin" : "npx vitamin"
