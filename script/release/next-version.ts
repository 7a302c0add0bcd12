// The version and the changelog of a release.

const form = /^(\d+)\.(\d+)\.(\d+)$/

/** `step` is patch, minor, major or a version. It must be above the current one. */
export function nextVersion(current: string, step: string): string {
  const numbers = form.exec(current)?.slice(1).map(Number)
  if (!numbers) throw new Error(`The current version ${current} is not of the form X.Y.Z.`)
  const [major, minor, patch] = numbers as [number, number, number]
  const steps: Record<string, string> = {
    major: `${major + 1}.0.0`,
    minor: `${major}.${minor + 1}.0`,
    patch: `${major}.${minor}.${patch + 1}`,
  }
  const version = Object.hasOwn(steps, step) ? steps[step]! : step
  const wanted = form.exec(version)?.slice(1).map(Number)
  if (!wanted) throw new Error(`"${step}" is not patch, minor, major or a version such as 1.2.3.`)
  const [at] = [0, 1, 2].filter((i) => wanted[i] !== numbers[i])
  if (at === undefined || wanted[at]! < numbers[at]!)
    throw new Error(`${version} is not above the current version ${current}.`)
  return version
}

/** The changelog with what was unreleased under the version, and an empty part for what comes next. */
export function withRelease(changelog: string, version: string, day: string): string {
  const [, before, unreleased, after] =
    /^(.*?^## Unreleased\n)(.*?)((?:^## .*)?)$(?![\s\S])/ms.exec(changelog) ?? []
  if (before === undefined) throw new Error('CHANGELOG.md has no section "## Unreleased".')
  if (!/^- \S/m.test(unreleased!)) throw new Error("CHANGELOG.md has nothing under Unreleased.")
  return `${before}\n## ${version} (${day})\n${unreleased}${after}`
}
