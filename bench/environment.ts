// The environment of a command that a benchmark starts: a home of its own, and a loopback model.
import { join } from "node:path"

/** `root` is the benchmark's own folder, `url` the address of its model. */
export function environmentFor(root: string, url: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: join(root, "home"),
    XDG_DATA_HOME: "",
    XDG_CONFIG_HOME: "",
    XDG_STATE_HOME: "",
    XDG_CACHE_HOME: "",
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: "x",
    VITAMIN_MODEL: "openai/m",
  }
}
