// Writes a prompt in the person's own editor.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The new text; undefined if the editor failed. */
export async function editOutside(text: string): Promise<string | undefined> {
  const command = process.env.VISUAL || process.env.EDITOR || "vi"
  const folder = await mkdtemp(join(tmpdir(), "vitamin-"))
  const file = join(folder, "prompt.md")
  try {
    await writeFile(file, text, { mode: 0o600 })
    // The setting may have arguments: `code --wait`.
    const child = spawn(`${command} "$FILE"`, {
      shell: true,
      stdio: "inherit",
      env: { ...process.env, FILE: file },
    })
    const [code] = await once(child, "exit")
    return code === 0 ? (await readFile(file, "utf8")).replace(/\n$/, "") : undefined
  } catch {
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
