// npm run pack: writes the npm package to dist/scanfarm-VERSION.tgz
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HELPS } from '../bundle/answers.ts'
import { helpsOf } from '../bundle/build.ts'
import { dependenciesOf, librariesOf, noticesOf } from './notices.ts'
import { buildProgram, DEPENDENCIES, SDK_NAMES } from './program.ts'

const root = join(import.meta.dirname, '../..')

/** Files that the program reads, by their paths below the root. */
const FILES = [
  'packages/*/src/**/*.{pem,pl,sh}',
  'packages/store/sql/**/*.sql',
  'workflows/**/*.{yaml,yml}',
  'infra/install.sh',
  'infra/systemd/*.service',
  'infra/tools.yaml',
  'CHANGELOG.md',
  'LICENSE',
]

/** Cases of workflows are for those who change them. */
const CASES = ['workflows/**/*.test/**']

interface Manifest {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const { GITHUB_SERVER_URL = 'https://github.com', GITHUB_REPOSITORY = 'scanfarm/scanfarm' } = process.env
const REPOSITORY = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`

const readManifest = (name: string): Manifest =>
  JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')) as Manifest

const versionIn = (manifest: Manifest, name: string): string => {
  const version = manifest.dependencies?.[name]
  if (version === undefined || !/^\d/.test(version))
    throw new Error(`${name} has no exact version: ${version}`)
  return version
}

const manifestOfPackage = () => {
  const { version, description, license } = readManifest('.')
  const cloud = readManifest('packages/cloud')
  return {
    name: 'scanfarm',
    version,
    description,
    license,
    // npm compares it with the repository whose workflow publishes the package.
    repository: { type: 'git', url: `git+${REPOSITORY}.git` },
    keywords: ['security', 'scanner', 'workflow', 'distributed', 'recon'],
    type: 'module',
    bin: { scanfarm: 'bin/scanfarm' },
    engines: { node: '>=22' },
    dependencies: Object.fromEntries(
      Object.entries(DEPENDENCIES).map(([name, user]) => [
        name,
        versionIn(readManifest(`packages/${user}`), name),
      ]),
    ),
    optionalDependencies: readManifest('packages/embedded').optionalDependencies,
    // Listed so that npm warns about other versions.
    peerDependencies: Object.fromEntries(SDK_NAMES.map((name) => [name, versionIn(cloud, name)])),
    peerDependenciesMeta: Object.fromEntries(SDK_NAMES.map((name) => [name, { optional: true }])),
  }
}

const fill = async (folder: string): Promise<void> => {
  const copy = (from: string, to = from): void =>
    cpSync(join(root, from), join(folder, to), { recursive: true })
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  for (const path of globSync(FILES, { cwd: root, exclude: CASES })) copy(path)
  copy('scripts/pack/scanfarm', 'bin/scanfarm')
  copy('scripts/pack/README.md', 'README.md')

  run(process.execPath, [...process.execArgv, 'scripts/console/main.ts', '--sealed'])
  const console = readFileSync(join(root, '.cache/console/current'), 'utf8').trim()
  copy(`.cache/console/${console}`)
  write('.cache/console/current', `${console}\n`)

  const program = await buildProgram(root)
  for (const [name, content] of program.files) write(`lib/${name}`, content)
  write(`lib/${HELPS}`, await helpsOf())
  const libraries = [
    ...librariesOf(program.sources.map((path) => join(root, path))),
    ...dependenciesOf(join(root, 'packages/web')),
  ]
  write('THIRD-PARTY-NOTICES.txt', noticesOf(libraries))
  write('package.json', `${JSON.stringify(manifestOfPackage(), null, 2)}\n`)
}

const run = (command: string, args: readonly string[], cwd = root): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

const staging = mkdtempSync(join(tmpdir(), 'scanfarm-pack-'))
try {
  await fill(staging)
  mkdirSync(join(root, 'dist'), { recursive: true })
  const output = run('npm', ['pack', '--json', '--pack-destination', join(root, 'dist')], staging)
  const [packed] = JSON.parse(output) as {
    filename: string
    size: number
    unpackedSize: number
    entryCount: number
  }[]
  const mb = (bytes = 0): string => (bytes / 1e6).toFixed(1)
  console.log(
    `dist/${packed?.filename}: ${mb(packed?.size)} MB, unpacked ${mb(packed?.unpackedSize)} MB, ${packed?.entryCount} files`,
  )
} finally {
  rmSync(staging, { recursive: true, force: true })
}
