// Who may use whom (docs/architecture.md): a package uses packages of lower layers only, heavy libraries stay in the
// package that hides them, and no package imports files from the folder of another.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const packagesFolder = join(import.meta.dirname, '../../packages')

const LAYERS: readonly (readonly string[])[] = [
  ['contracts', 'paths', 'testing'],
  ['platform'],
  ['embedded', 'language', 'findings', 'store', 'queue', 'artifacts', 'runners', 'tools', 'client'],
  ['functions'],
  ['engine'],
  ['worker', 'cloud'],
  ['server', 'web'],
  ['cli'],
]

/** For devDependencies only. */
const TESTS_ONLY = '@scanfarm/testing'

/** Library → the only packages that may depend on it. */
const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  express: ['server'],
  bullmq: ['queue'],
  ioredis: ['queue'],
  kysely: ['store'],
  pg: ['platform', 'store', 'queue'],
  commander: ['cli'],
  react: ['web'],
  dockerode: ['runners', 'cloud'],
  ssh2: ['runners', 'cloud'],
  winston: ['platform'],
  '@aws-sdk/client-s3': ['artifacts'],
  '@aws-sdk/s3-request-presigner': ['artifacts'],
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}

const layerOf = (name: string): number => LAYERS.findIndex((layer) => layer.includes(name))

const badDependency = (name: string, dependency: string): string | undefined => {
  const only = HIDDEN[dependency]
  if (only && !only.includes(name)) return `${dependency} belongs to ${only.join(' and ')} alone`
  if (dependency === TESTS_ONLY) return `${dependency} is for tests: make it a devDependency`
  if (!dependency.startsWith('@scanfarm/')) return undefined
  const used = dependency.slice('@scanfarm/'.length)
  return layerOf(used) < layerOf(name) ? undefined : `${used} does not lie below ${name}`
}

const checkManifest = (name: string): string[] => {
  if (layerOf(name) < 0) return [`packages/${name}: give it a layer in scripts/check/packages.ts`]
  const text = readFileSync(join(packagesFolder, name, 'package.json'), 'utf8')
  return Object.keys((JSON.parse(text) as Manifest).dependencies ?? {}).flatMap((dependency) => {
    const problem = badDependency(name, dependency)
    return problem === undefined ? [] : [`packages/${name}/package.json: ${problem}`]
  })
}

const sourcesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && /\.tsx?$/.test(file.name) && !file.parentPath.includes('node_modules'))
    .map((file) => join(file.parentPath, file.name))

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

const checkReach = (name: string): string[] => {
  const folder = join(packagesFolder, name)
  return sourcesOf(folder).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)]
      .map(([, path = '']) => resolve(join(file, '..'), path))
      .filter((target) => relative(folder, target).startsWith('..'))
      .map((target) => `${relative(packagesFolder, file)}: reaches into ${relative(packagesFolder, target)}`),
  )
}

/** A devDependency resolves in `src`, too. */
const checkSources = (name: string): string[] =>
  sourcesOf(join(packagesFolder, name, 'src'))
    .filter((file) => readFileSync(file, 'utf8').includes(`'${TESTS_ONLY}'`))
    .map((file) => `${relative(packagesFolder, file)}: ${TESTS_ONLY} is for tests`)

const problems = readdirSync(packagesFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => [...checkManifest(name), ...checkReach(name), ...checkSources(name)])
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
