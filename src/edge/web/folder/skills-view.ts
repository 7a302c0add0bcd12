// The skills of a folder, and the commands that a prompt may begin with.
import type { Command, Skill } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { Empty, Loaded } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"

type Both = { skills: Skill[]; commands: Command[] }

export function SkillsView({ folder }: { folder: string }) {
  const both = useData(
    async () => {
      const client = clientFor(folder)
      const [skills, commands] = await Promise.all([client.listSkills(), client.listCommands()])
      return { skills, commands: commands.filter(({ kind }) => kind !== "skill") }
    },
    [folder],
    (event) =>
      (event.type === "mcp.changed" || event.type === "config.changed") && event.directory === folder,
  )
  return html`<${Loaded} data=${both}>
    ${({ skills, commands }: Both) => html`
      ${skills.length ? html`<ul class="cards">${skills.map((skill) => html`<${SkillCard} key=${skill.file} skill=${skill} />`)}</ul>` : html`<${Empty}>No skill is installed here.<//>`}
      <h2 class="pad">Commands</h2>
      ${
        commands.length
          ? html`<dl class="facts pad">
              ${commands.map(
                ({ name, description, hint }) =>
                  html`<dt><code>/${name}</code> <span class="dim">${hint ?? ""}</span></dt><dd>${description}</dd>`,
              )}
            </dl>`
          : html`<${Empty}>No command file and no prompt of a server.<//>`
      }
    `}
  <//>`
}

function SkillCard({ skill }: { skill: Skill }) {
  const { name, description, file, isOwn, isTrusted, isManual, scripts, references, problems } = skill
  const facts = [
    isOwn ? "yours" : "of the project",
    isTrusted ? "" : "not trusted",
    isManual ? "only on request" : "",
    scripts.length ? `${scripts.length} scripts` : "",
    references.length ? `${references.length} references` : "",
  ]
  return html`<li class="card">
    <div class="card-head"><h2>${name}</h2><span class="dim">${facts.filter(Boolean).join(" · ")}</span></div>
    <p class="text">${description}</p>
    <p class="dim small break">${file}</p>
    ${problems.map(({ level, line, message }) => html`<p class=${level === "error" ? "error" : "waits"}>Line ${line}: ${message}</p>`)}
  </li>`
}
