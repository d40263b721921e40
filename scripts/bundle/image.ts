// Copies the installation for images into two trees that fit over each other: TO/program contains what the bundle loads,
// TO/cloud the libraries of cloud providers, which only masters need. For a checkout with production dependencies and a
// sealed bundle.
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { bundlesOf, currentBundle } from './current.ts'

const root = join(import.meta.dirname, '../..')
const [, , to = ''] = process.argv
if (to === '') throw new Error('usage: scripts/run scripts/bundle/image.ts FOLDER')

const bundle = currentBundle(root)
if (bundle === undefined)
  throw new Error(`${bundlesOf(root)} has no bundle: run scripts/bundle/main.ts --sealed first`)

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}
interface Outputs {
  readonly [file: string]: {
    readonly imports: readonly { readonly path: string; readonly external?: boolean }[]
  }
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of a package in the store of pnpm, for a file in it. */
const packageOf = (file: string): string | undefined =>
  /^.*\/node_modules\/\.pnpm\/[^/]+\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]

/** Links to the dependencies of a package of the store are beside it. */
const linksOf = (folder: string): string[] => {
  const beside = folder.slice(0, folder.lastIndexOf('/node_modules/') + '/node_modules'.length)
  return globSync(['*', '@*/*'], { cwd: beside })
    .map((name) => join(beside, name))
    .filter((path) => lstatSync(path).isSymbolicLink() && existsSync(path))
}

const closureOf = (seeds: Iterable<string>): Set<string> => {
  const found = new Set(seeds)
  for (const folder of found) for (const link of linksOf(folder)) found.add(realpathSync(link))
  return found
}

/** Folders of the libraries that a package of this repository declares. */
const declaredBy = (folder: string): string[] =>
  Object.keys(manifestOf(folder).dependencies ?? {})
    .map((name) => join(folder, 'node_modules', name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .filter((path) => packageOf(path) === path)

const outputs = JSON.parse(readFileSync(join(bundle, 'inputs.json'), 'utf8')) as Outputs
const loaded = Object.values(outputs)
  .flatMap(({ imports }) => imports)
  .filter(({ path, external }) => external === true && path.includes('/node_modules/'))
  .map(({ path }) => packageOf(join(bundle, path)))
  .filter((folder) => folder !== undefined)

const cloud = join(root, 'packages/cloud')
const others = globSync('packages/*', { cwd: root })
  .map((folder) => join(root, folder))
  .filter((folder) => folder !== cloud && existsSync(join(folder, 'package.json')))
const declaredElsewhere = new Set(others.flatMap(declaredBy))

/** `createRequire` finds these beside the sources. */
const REQUIRED = ['packages/functions/node_modules/tldts']
const node = globSync('node_modules/node-*', { cwd: root })
const required = [...REQUIRED, ...node].map((path) => realpathSync(join(root, path)))

const program = closureOf([...loaded.filter((folder) => declaredElsewhere.has(folder)), ...required])
const sdks = [...closureOf(loaded)].filter((folder) => !program.has(folder))

/** Sources, types and documents of libraries, which no program loads. */
const UNUSED = /\.(?:map|d\.[cm]?ts|md|markdown)$|\/node-linux-\w+\/(?:include|share)$/

const copy = (folder: string, into: string): void => {
  const target = join(into, relative(root, folder))
  cpSync(folder, target, { recursive: true, filter: (path) => path === folder || !UNUSED.test(path) })
}

const link = (path: string, into: string): void => {
  const target = join(into, relative(root, path))
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(readlinkSync(path), target)
}

const copyPackages = (folders: Iterable<string>, into: string): void => {
  for (const folder of folders) {
    copy(folder, into)
    for (const path of linksOf(folder)) link(path, into)
  }
}

rmSync(to, { recursive: true, force: true })
copyPackages(program, join(to, 'program'))
copyPackages(sdks, join(to, 'cloud'))
for (const path of [...REQUIRED, ...node]) link(join(root, path), join(to, 'program'))
for (const path of [
  'package.json',
  'pnpm-lock.yaml',
  'node_modules/.scanfarm-lock',
  'packages',
  'workflows',
  'scripts',
  '.cache/bundle',
])
  if (existsSync(join(root, path)))
    cpSync(join(root, path), join(to, 'program', path), {
      recursive: true,
      filter: (from) =>
        !/\/(?:packages\/web|packages\/[^/]+\/(?:test|node_modules)|scripts\/node_modules)$/.test(from),
    })
