import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  /** Of old manifests. */
  readonly licenses?: readonly { readonly type: string }[]
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Licences whose only condition is that their text comes with the code. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of the library that a file belongs to. Folders without a name only set the module format. */
const libraryOf = (path: string): string => {
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json')) && readManifest(folder).name !== undefined) return folder
  throw new Error(`${path} belongs to no package`)
}

/** The libraries that a package of the workspace depends on, and theirs. */
export const dependenciesOf = (folder: string): string[] => {
  const found = new Set<string>()
  const add = (from: string, modules: string): void => {
    for (const name of Object.keys(readManifest(from).dependencies ?? {})) {
      if (name.startsWith('@scanfarm/') || !existsSync(join(modules, name))) continue
      const library = realpathSync(join(modules, name))
      if (found.has(library)) continue
      found.add(library)
      add(library, library.slice(0, library.lastIndexOf('node_modules') + 'node_modules'.length))
    }
  }
  add(folder, join(folder, 'node_modules'))
  return [...found]
}

export const librariesOf = (paths: readonly string[]): string[] => [
  ...new Set(
    paths.filter((path) => path.includes('node_modules/')).map((path) => libraryOf(realpathSync(path))),
  ),
]

const textsOf = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim())

/** Names, versions and licences of libraries whose code is in the package. */
export const noticesOf = (libraries: readonly string[]): string => {
  const notices = new Map<string, string>()
  const problems: string[] = []
  for (const folder of libraries) {
    const { name, version, licenses, license = licenses?.[0]?.type ?? '' } = readManifest(folder)
    if (!ALLOWED.has(license)) problems.push(`${name} ${version}: ${license || 'no licence'}`)
    const texts = textsOf(folder)
    const text = texts.length === 0 ? `Licence: ${license}` : texts.join('\n\n')
    notices.set(`${name} ${version}`, `${name} ${version} (${license})\n\n${text}`)
  }
  if (problems.length > 0)
    throw new Error(`licences that are not in the list of scripts/pack/notices.ts:\n${problems.join('\n')}`)
  const line = `\n\n${'-'.repeat(80)}\n\n`
  const head = 'This package contains code of the following libraries.'
  return `${[head, ...[...notices.keys()].sort().map((key) => notices.get(key))].join(line)}\n`
}
