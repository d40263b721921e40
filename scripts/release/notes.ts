import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/

/** The section of a version in the changelog, without its title. Undefined: there is none. */
const sectionOf = (changelog: string, version: string): string | undefined => {
  const sections = changelog.split(/^## /m).slice(1)
  const found = sections.find((section) => section.split(/\s/, 1)[0] === version)
  return found?.slice(found.indexOf('\n')).trim()
}

const versionOf = (path: string): string =>
  path.endsWith('.json')
    ? (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
    : (/^version: *(\S+)/m.exec(readFileSync(path, 'utf8'))?.[1] ?? 'none')

/** The notes of the release with this tag. Throws with all reasons why the checkout is not this release. */
export const releaseNotes = (root: string, tag: string): string => {
  const version = VERSION.exec(tag)?.[1]
  if (version === undefined) throw new Error(`${tag} is not the tag of a release: it must be like v1.2.3`)
  const manifests = globSync(
    ['package.json', '{packages/*,scripts}/package.json', 'infra/helm/*/Chart.yaml'],
    { cwd: root },
  )
  const problems = manifests
    .sort()
    .map((path) => ({ path, found: versionOf(join(root, path)) }))
    .filter(({ found }) => found !== version)
    .map(({ path, found }) => `${path} has version ${found}: set it to ${version}`)
  const notes = sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (!notes)
    problems.push(`CHANGELOG.md has no changes below "## ${version}": rename the section "Unreleased"`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return `${notes}\n`
}
