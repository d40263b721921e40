import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { until } from '@scanfarm/testing'
import { Lab, LAB_PROGRAMS } from '../tools/lab.ts'
import { ensurePrograms } from '../services/programs.ts'

/** The ports of the lab, which reports contain. */
const FIRST_PORT = 18_100
const NET = '10.213.9'
const LINK = 'sfreports'

/** Advisories of ours, in the form of databases of vulnerabilities. */
const osv = (ecosystem: string, name: string, fixed: string) => ({
  id: `DEMO-2026-${name}`,
  modified: '2026-01-01T00:00:00Z',
  aliases: ['CVE-2026-10001'],
  summary: `Demo advisory for ${name}`,
  affected: [
    {
      package: { ecosystem, name },
      ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed }] }],
    },
  ],
  database_specific: { severity: 'HIGH', cwe_ids: ['CWE-20'] },
})
const ADVISORIES = [osv('PyPI', 'jinja2', '2.11.3'), osv('npm', 'minimist', '0.2.1')]
const MINIMIST = {
  id: 1_000_001,
  url: 'https://example.test/advisories/GHSA-demo-demo-demo',
  title: 'Prototype pollution',
  severity: 'moderate',
  vulnerable_versions: '<0.2.1',
  cwe: ['CWE-1321'],
}
/** What is answered to requests with this text. */
const ANSWERS: readonly (readonly [text: string, answer: unknown])[] = [
  ['/bulk', { minimist: [MINIMIST] }],
  ['jinja2', { vulns: [ADVISORIES[0]] }],
  ['/v1/', { vulns: [] }],
  ['', { name: 'minimist', versions: { '0.0.8': { name: 'minimist', version: '0.0.8' } } }],
]

export interface Servers extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
}

/** Starts the servers that commands mention. */
export const startServers = async (commands: string, folder: string): Promise<Servers> => {
  const env: Record<string, string> = {}
  const scope = new AsyncDisposableStack()
  if (/\$\{?(?:WEB|TLS)/.test(commands)) {
    ensurePrograms(LAB_PROGRAMS)
    const lab = scope.use(await Lab.start(FIRST_PORT))
    env['WEB'] = lab.address('careless')
    env['TLS'] = lab.address('old-tls')
  }
  if (commands.includes('$NET')) Object.assign(env, await startHost(scope))
  if (commands.includes('$ADVISORIES')) env['ADVISORIES'] = await startAdvisories(scope)
  if (commands.includes('$DATABASE')) env['DATABASE'] = writeDatabase(folder)
  return { env, [Symbol.asyncDispose]: () => scope.disposeAsync() }
}

/** A web server in another network namespace, for scanners that write packets themselves. */
const startHost = async (scope: AsyncDisposableStack): Promise<Record<string, string>> => {
  const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' })
  ip('netns', 'add', LINK)
  scope.defer(() => void ip('netns', 'del', LINK))
  ip('link', 'add', `${LINK}0`, 'type', 'veth', 'peer', 'name', `${LINK}1`, 'netns', LINK)
  ip('addr', 'add', `${NET}.1/24`, 'dev', `${LINK}0`)
  ip('link', 'set', `${LINK}0`, 'up')
  ip('-n', LINK, 'addr', 'add', `${NET}.2/24`, 'dev', `${LINK}1`)
  ip('-n', LINK, 'link', 'set', `${LINK}1`, 'up')
  const server = spawn('ip', ['netns', 'exec', LINK, 'python3', '-m', 'http.server', '8000'], {
    stdio: 'ignore',
  })
  scope.defer(() => void server.kill('SIGKILL'))
  await until(() =>
    fetch(`http://${NET}.2:8000/`).then(
      () => true,
      () => false,
    ),
  )
  const [, mac = ''] = /link\/ether (\S+)/.exec(ip('-n', LINK, 'link', 'show', `${LINK}1`)) ?? []
  return { NET: `${NET}.2`, MAC: mac, LINK: `${LINK}0` }
}

const startAdvisories = async (scope: AsyncDisposableStack): Promise<string> => {
  const server = createServer((request, response) => {
    const parts = [request.url ?? '']
    request.on('data', (chunk: Buffer) => parts.push(chunk.toString()))
    request.on('end', () => {
      const [, answer] = ANSWERS.find(([text]) => parts.join(' ').includes(text)) ?? []
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
    })
  }).listen(FIRST_PORT - 1, '127.0.0.1')
  await once(server, 'listening')
  scope.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${FIRST_PORT - 1}`
}

/** The advisories as files that osv-scanner reads without a network. */
const writeDatabase = (folder: string): string => {
  const database = join(folder, '../database')
  const write = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr(sys.argv[2], sys.argv[3])'
  for (const advisory of ADVISORIES) {
    const at = join(database, 'osv-scanner', advisory.affected[0]?.package.ecosystem ?? '')
    mkdirSync(at, { recursive: true })
    const args = [join(at, 'all.zip'), `${advisory.id}.json`, JSON.stringify(advisory)]
    execFileSync('python3', ['-c', write, ...args])
  }
  return database
}
