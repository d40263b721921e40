// npm run check: all static checks of the code. All parts run at the same time and all are
// reported; exit code 1 if one of them fails.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

interface Part {
  readonly name: string
  readonly command: readonly string[]
  /** Whether its output is printed also when it passes. */
  readonly figures?: boolean
}

const node = process.execPath
/** Types of a project. What did not change since the last check is not checked again. */
const types = (project: string, name: string): readonly string[] =>
  `node_modules/.bin/tsc --noEmit -p ${project} --incremental --tsBuildInfoFile .cache/types/${name}.json`.split(
    ' ',
  )

/** Types that others need; git ignores the file. */
const CLIENT_TYPES: Part = { name: 'client types', command: [node, 'scripts/generate/client-schema.ts'] }

const PARTS: readonly Part[] = [
  { name: 'types', command: types('tsconfig.json', 'all') },
  { name: 'types of the console', command: types('packages/web/tsconfig.json', 'console') },
  { name: 'types of the browser tests', command: types('packages/web/test/tsconfig.json', 'browser-tests') },
  { name: 'lint', command: [node, 'node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings'] },
  {
    name: 'format',
    command: [
      node,
      'node_modules/prettier/bin/prettier.cjs',
      '--check',
      '--log-level=warn',
      '--cache',
      '--cache-location=.cache/prettier',
      '.',
    ],
  },
  {
    name: 'unused code',
    command: [node, 'node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'],
  },
  { name: 'generated parts', command: [node, 'scripts/generate/main.ts', '--check'] },
  { name: 'packages', command: [node, 'scripts/check/packages.ts'] },
  { name: 'file names', command: [node, 'scripts/check/file-names.ts'] },
  { name: 'document paths', command: [node, 'scripts/check/document-paths.ts'] },
  { name: 'sizes', command: [node, 'scripts/check/sizes.ts'], figures: true },
  { name: 'lockfile', command: [node, 'scripts/check/lockfile.ts'] },
]

interface Result {
  readonly part: Part
  readonly passed: boolean
  readonly output: string
  readonly ms: number
}

const run = async (part: Part): Promise<Result> => {
  const [program = '', ...args] = part.command
  const began = performance.now()
  // The linter finds its type checker, and tsc its Node, on PATH.
  const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`
  const child = spawn(program, args, { cwd: root, env: { ...process.env, PATH, NODE_NO_WARNINGS: '1' } })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { promise, resolve } = Promise.withResolvers<boolean>()
  child.on('error', (error) => {
    chunks.push(Buffer.from(error.message))
    resolve(false)
  })
  child.on('close', (code) => resolve(code === 0))
  const passed = await promise
  return { part, passed, output: Buffer.concat(chunks).toString(), ms: performance.now() - began }
}

const report = ({ part, passed, output, ms }: Result): void => {
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${part.name} (${(ms / 1000).toFixed(1)} s)`)
  if (!passed || part.figures === true) console.log(output.trimEnd().replaceAll(/^/gm, '       '))
}

const wanted = process.argv.slice(2)
const parts = PARTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (parts.length === 0)
  console.error(`unknown part: the parts are ${PARTS.map(({ name }) => name).join(', ')}`)
const done = async (part: Part): Promise<Result> => {
  const result = await run(part)
  report(result)
  return result
}
const first = await done(CLIENT_TYPES)
const results = [first, ...(await Promise.all(parts.map(done)))]
process.exitCode = parts.length > 0 && results.every(({ passed }) => passed) ? 0 : 1
