// How a person starts this program, for hints that name a command: `vitamin`, or `npx vitamin` if npx started it.

/** npx says which program it runs. A package that it has fetched needs its full name: npm knows another `vitamin`. In a
 * checkout, the folder of fetched packages only has a link to this file. */
const isByNpx =
  process.env.npm_command === "exec" && /^['"]?vitamin\b/.test(process.env.npm_lifecycle_script ?? "")
const isFetched = /[\\/]_npx[\\/]/.test(import.meta.url)

export const ownCommand = !isByNpx ? "vitamin" : isFetched ? "npx @vitamin-agent/vitamin" : "npx vitamin"
