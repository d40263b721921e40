// `npm run reports [-- --only NAME] [--write]`: runs each tool and compares its reports with the fixtures of the importers.
// With --write they replace the fixtures, and docs/findings.md gets the versions from tried.json (npm run generate).
import { execFile } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { parse } from 'yaml'
import { IMPORT_FORMATS, readFindings, type ImportFormat } from '../../packages/findings/src/index.ts'
import { writeInputs } from './inputs.ts'
import { install, SOURCES } from './install.ts'
import { startServers } from './servers.ts'
import { checkWritten } from './written.ts'

const FIXTURES = join(import.meta.dirname, '../../packages/findings/test/reports')
const TRIED = join(import.meta.dirname, 'tried.json')
const WORK = join(tmpdir(), 'scanfarm-reports')
const SRC = join(WORK, 'src')
const MAX_LINES = 12
const RUN_MS = 600_000
const MAX_OUTPUT = 64 * 1024 * 1024
const run = promisify(execFile)

/** By a source what is installed, by a format the commands of fixtures. */
type Tool = Readonly<Record<string, string | Readonly<Record<string, string>>>>
const TOOLS = parse(readFileSync(join(import.meta.dirname, 'tools.yaml'), 'utf8')) as Readonly<
  Record<string, Tool>
>
/** The commands of a tool by fixture. */
const reportsOf = (tool: Tool): { format: ImportFormat; file: string; command: string }[] =>
  IMPORT_FORMATS.flatMap((format) =>
    Object.entries(tool[format] ?? {}).map(([file, command]) => ({ format, file, command: String(command) })),
  )

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, write: { type: 'boolean', default: false } },
})
const wanted = values.only ?? [...Object.keys(TOOLS), 'written']
const unknown = wanted.filter((name) => name !== 'written' && !(name in TOOLS))
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(', ')}; tools are ${Object.keys(TOOLS).join(', ')}, written`)

/** Keys whose values differ from run to run. */
const VARYING =
  /time|date|duration|elapsed|guid|uuid|port$|seqnum|acknum|ipid|scan_?id|created|tool_?versions?/i

/** The lines of a report without what differs from run to run. */
const linesOf = (text: string): Set<string> => {
  let plain = text
  try {
    const keep = (key: string, value: unknown): unknown => (VARYING.test(key) ? undefined : value)
    plain = JSON.stringify(JSON.parse(text, keep), undefined, 1)
  } catch {
    // XML and text.
  }
  const stamps =
    /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:[\d.]+)?|\w{3} \w{3} +\d+ \d\d:\d\d:\d\d|\b1[6-9]\d{8}\b|[\d.]+ seconds|\b(srtt|rttvar|elapsed)="[^"]*"/g
  return new Set(
    plain
      .replaceAll(stamps, '…')
      .split('\n')
      .map((line) => line.trim()),
  )
}

/** What is imported from a report. */
const recordsOf = async (format: ImportFormat, path: string): Promise<Set<string>> => {
  const records = new Set<string>()
  for await (const batch of readFindings(format, createReadStream(path))) {
    for (const one of batch.vulnerabilities)
      records.add([one.vuln_info, one.severity, one.asset_value, one.fingerprint].join(' '))
    for (const one of batch.assets) records.add(`${one.asset_type} ${one.asset_value} ${one.title}`)
    for (const { reason } of batch.problems) records.add(`error: ${reason}`)
  }
  return records
}

/** Prints what only one of two sets has, and returns the number. */
const differences = (what: string, before: ReadonlySet<string>, after: ReadonlySet<string>): number => {
  const lines = [
    ...[...before.difference(after)].map((line) => `    - ${line.slice(0, 160)}`),
    ...[...after.difference(before)].map((line) => `    + ${line.slice(0, 160)}`),
  ]
  if (lines.length > 0)
    console.log([`  ${what}: ${lines.length} differ`, ...lines.slice(0, MAX_LINES)].join('\n'))
  return lines.length
}

/** Runs a tool and compares its reports. Returns whether what is imported is the same. */
const compare = async (name: string, tool: Tool, env: Readonly<Record<string, string>>): Promise<boolean> => {
  if (typeof tool['skipped'] === 'string') {
    console.log(`${name} is not run: ${tool['skipped']}`)
    return true
  }
  const from = SOURCES.find((source) => typeof tool[source] === 'string') ?? 'debian'
  const what = tool[from]
  const { bin, version } = install(name, [from, typeof what === 'string' ? what : name], WORK)
  console.log(`${name} ${version}`)
  let isSame = true
  for (const { format, file, command } of reportsOf(tool)) {
    const out = join(WORK, file)
    rmSync(out, { force: true })
    try {
      const all = { ...env, SRC, OUT: out, PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: WORK }
      await run('sh', ['-c', command], { cwd: SRC, env: all, timeout: RUN_MS, maxBuffer: MAX_OUTPUT })
    } catch (error) {
      // Many tools end with 1 if they found something.
      if (!existsSync(out)) throw new Error(`${name} wrote no report: ${String(error)}`, { cause: error })
    }
    const text = readFileSync(out, 'utf8').replaceAll(/ghp_\w+/g, 'ghp_example')
    writeFileSync(out, text)
    const fixture = join(FIXTURES, file)
    const before = existsSync(fixture) ? readFileSync(fixture, 'utf8') : ''
    differences(file, linesOf(before), linesOf(text))
    const known = before === '' ? new Set<string>() : await recordsOf(format, fixture)
    isSame = differences(`${file}, imported`, known, await recordsOf(format, out)) === 0 && isSame
    if (values.write) writeFileSync(fixture, text)
  }
  if (values.write) {
    const tried = JSON.parse(readFileSync(TRIED, 'utf8')) as Record<string, string>
    const sorted = Object.entries({ ...tried, [name]: version }).toSorted(([a], [b]) => (a < b ? -1 : 1))
    writeFileSync(TRIED, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`)
  }
  return isSame
}

mkdirSync(WORK, { recursive: true })
writeInputs(SRC)
const commands = wanted
  .flatMap((name) => reportsOf(TOOLS[name] ?? {}).map(({ command }) => command))
  .join('\n')
await using servers = await startServers(commands, SRC)
const changed: string[] = []
for (const name of wanted) {
  const tool = TOOLS[name]
  try {
    const isSame =
      tool === undefined ? await checkWritten(WORK, FIXTURES) : await compare(name, tool, servers.env)
    if (!isSame) changed.push(name)
  } catch (error) {
    console.log(`  ${error instanceof Error ? error.message : String(error)}`)
    changed.push(name)
  }
}
console.log(changed.length === 0 ? 'Nothing that is imported has changed.' : `Changed: ${changed.join(', ')}`)
process.exitCode = changed.length === 0 || values.write ? 0 : 1
