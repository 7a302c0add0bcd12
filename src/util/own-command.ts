// How a person starts this program, for hints that name a command: `vitamin`, or `npx vitamin` if npx started it.

/** npx says which program it runs. One that it has fetched needs the name of the package; npm knows another `vitamin`. */
const isByNpx =
  process.env.npm_command === "exec" && /^['"]?vitamin\b/.test(process.env.npm_lifecycle_script ?? "")
const isFetched = /[\\/]_npx[\\/]/.test(process.argv[1] ?? "")

export const ownCommand = !isByNpx ? "vitamin" : isFetched ? "npx @vitamin-agent/vitamin" : "npx vitamin"
