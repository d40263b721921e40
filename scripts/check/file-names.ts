// Commands can replace every file and folder of a workspace while this program uses it. Packages that use workspaces open
// files through @scanfarm/paths; functions that take the name of a file are allowed only in the files below.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const packagesFolder = join(import.meta.dirname, '../../packages')

const PACKAGES = ['artifacts', 'engine', 'functions', 'runners', 'worker']

/** Files, or folders with `/` at the end, and what they use by name. */
const EXEMPT: Readonly<Record<string, string>> = {
  'artifacts/src/folder-store.ts': 'the artifact store',
  'artifacts/src/s3-client.ts': 'a certificate of the operator',
  'engine/src/library/': 'folders of workflows',
  'engine/src/flow/platform-variables.ts': 'facts of the machine',
  'engine/src/lint/lint-paths.ts': 'workflow files of the caller',
  'engine/src/runner/command.ts': 'the folder of a workspace itself',
  'engine/src/trigger/functions.ts': 'the folder of a workspace itself',
  'functions/src/notify/service.ts': 'descriptors of files that functions have opened',
  'runners/src/docker/config-folder.ts': 'certificates and credentials of the operator',
  'runners/src/docker/engine-address.ts': 'sockets of engines',
  'runners/src/docker/volumes.ts': 'sources of volumes',
  'runners/src/homes.ts': 'skeletons of the operator, and homes that are not open to commands yet',
  'runners/src/host/': 'programs, pipes and processes of the machine, and the folders of runs themselves',
  'runners/src/shell/session-script.ts': 'a script of this package',
  'runners/src/ssh/known-hosts.ts': 'keys of hosts',
  'runners/src/ssh/target.ts': 'keys of the operator',
  'worker/src/network/': 'devices, processes and namespaces in /proc',
  'worker/src/record/logs.ts': 'a new file that is unlinked at once',
  'worker/src/tools/': 'folders of tools',
  'worker/src/users/': 'claims of users, and the folders of workspaces themselves',
  'worker/src/workspaces/':
    'the folders of runs, workspaces and homes themselves, whose parents belong to the worker',
}

/** Functions that take descriptors, and names of values and types. */
const HARMLESS = new Set(['constants', 'read', 'closeSync', 'fstatSync', 'readSync', 'writeSync'])
const IMPORT = /import\s+(?<type>type\s+)?(?<what>\{[^}]*\}|[^'{}]+?)\s+from\s+'node:fs(?:\/promises)?'/g

const OTHER_FORM = /['"`](?:node:)?fs(?:\/promises)?['"`]/

const namedFunctions = (text: string): string[] => [
  ...[...text.matchAll(IMPORT)].flatMap(({ groups: { type, what = '' } = {} }) => {
    if (type !== undefined) return []
    if (!what.startsWith('{')) return [what.trim()]
    const names = what.slice(1, -1).split(',')
    return names
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => name.split(/\s+as\s+/)[0] ?? '')
      .filter((name) => !HARMLESS.has(name))
  }),
  ...(OTHER_FORM.test(text.replaceAll(IMPORT, '')) ? ['an import in another form'] : []),
]

const isExempt = (file: string): boolean =>
  Object.keys(EXEMPT).some((path) => file === path || (path.endsWith('/') && file.startsWith(path)))

const sources = PACKAGES.flatMap((name) =>
  readdirSync(join(packagesFolder, name, 'src'), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith('.ts'))
    .map((file) => relative(packagesFolder, join(file.parentPath, file.name))),
)
const users = new Map(
  sources.flatMap((file) => {
    const names = namedFunctions(readFileSync(join(packagesFolder, file), 'utf8'))
    return names.length === 0 ? [] : [[file, names] as const]
  }),
)
const problems = [
  ...[...users]
    .filter(([file]) => !isExempt(file))
    .map(
      ([file, names]) =>
        `packages/${file}: uses files by name (${names.join(', ')}): use @scanfarm/paths, or name in scripts/check/file-names.ts which files no command can replace`,
    ),
  ...Object.keys(EXEMPT)
    .filter((path) => ![...users.keys()].some((file) => file === path || file.startsWith(path)))
    .map((path) => `scripts/check/file-names.ts: ${path} uses no files by name: remove it from the list`),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
