// long
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, jest, test } from '@jest/globals'
import type { RunDetail } from '@scanfarm/contracts'
import { openLibrary } from '@scanfarm/engine'
import { targetSpace } from '@scanfarm/functions'
import { resolveWorkflow, stringifyResolved, type WorkflowLibrary } from '@scanfarm/language'
import { canFilter } from '../harness/can-filter.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

/** Fakes of tools that cannot be installed everywhere, with real output; `RESULTS` contains the findings of nuclei. */
const TOOLS: Readonly<Record<string, string>> = {
  httpx: `[ "$1" != -version ] || { echo 'projectdiscovery.io Current Version: v1.6.0'; exit; }
while read -r place; do
  case $place in http*) url=$place ;; *) url=http://$place ;; esac
  ! curl -s -o /dev/null "$url" || printf '{"url":"%s","input":"%s","host":"127.0.0.1","status_code":200}\\n' "$url" "$place"
done < "$list" > "$out"`,
  nuclei: `cp "$RESULTS" "$out"`,
  katana: `: > "$out"`,
  // It writes the report and the answers as ffuf 1.1 does, for the answers with status 200.
  ffuf: `prev=
for arg in "$@"; do
  case $prev in -u) url=\${arg%FUZZ} ;; -w) words=$arg ;; -od) answers=$arg ;; esac
  prev=$arg
done
mkdir -p "$answers"
while read -r word; do
  printf 'GET /%s HTTP/1.1\\r\\n\\r\\n\\n---- ↑ Request ---- Response ↓ ----\\n\\n' "$word" > answer
  curl -si "$url$word" >> answer
  grep -q '^HTTP/1.1 200' answer || continue
  name=$(printf %s "$word" | md5sum | cut -c 1-32)
  mv answer "$answers/$name"
  printf '%s{"url":"%s","status":200,"length":9,"resultfile":"%s"}' "$comma" "$url$word" "$name" >> rows
  comma=,
done < "$words"
printf '{"commandline":"ffuf -u %s","results":[%s]}' "$url" "$(cat rows 2>/dev/null)" > "$out"
rm -f rows answer
echo ':: Progress: [9/9] :: Errors: 0 ::' >&2`,
  // No host answers in this network.
  'quiet/nmap': `exec unshare -n sh -c 'ip link add v0 type veth peer name v1 && ip address add 192.0.2.1/24 dev v0 &&
  ip link set v0 up && ip link set v1 up && exec ${process.env['SCANFARM_TEST_NMAP']} "$@"' nmap "$@"`,
}
const HEAD = `#!/bin/sh
prev=
for arg in "$@"; do
  case $prev in -o) out=$arg ;; -l | -list) list=$arg ;; esac
  prev=$arg
done
`

let library: WorkflowLibrary
beforeAll(async () => {
  library = await openLibrary([join(import.meta.dirname, '../../../../workflows')])
})

const PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
interface Scan {
  readonly kind: 'module' | 'flow'
  readonly name: string
  readonly target: string
  readonly params?: Readonly<Record<string, string>>
}

/** nmap takes ten seconds to probe an unknown service. */
const QUICK = { nmap_args: '-T4 --version-intensity 0' }

/** Scans with these tools only; the tools in the folder `more` take precedence. */
const openScans = async (more = '') => {
  await using scope = new AsyncDisposableStack()
  const harness = scope.use(await openHarness())
  const { store } = harness
  const results = join(harness.folder, 'results.jsonl')
  for (const [name, body] of Object.entries(TOOLS)) {
    const path = join(harness.folder, 'bin', name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, `${HEAD}${body.replaceAll('$RESULTS', results)}\n`)
    await chmod(path, 0o755)
  }
  const own = [...(more === '' ? [] : [join(harness.folder, 'bin', more)]), join(harness.folder, 'bin')]
  harness.executor({ path: [...own, ...PATH].join(':') })

  /** Runs a shipped workflow and resolves to its effect on the records of earlier runs. */
  const scan = async ({ kind, name, target, params = {} }: Scan): Promise<RunDetail> => {
    const json = stringifyResolved(resolveWorkflow(library, { name, kind }))
    const workflow = { hash: createHash('sha256').update(json).digest('hex'), json }
    const job = { workflow, workflowKind: kind, workflowName: name, params }
    const [runId = 0] = await harness.submit([], { targets: [target], job })
    const run = await harness.ended(runId)
    await store.scans.judge({ limit: 100, history: 10 })
    return run
  }

  const assets = async (target: string): Promise<Record<string, string>> => {
    const { data } = await store.assets.list({ workspace: [targetSpace(target)] }, { offset: 0, limit: 100 })
    return Object.fromEntries(data.map(({ asset_value, url, state }) => [url || asset_value, state]))
  }

  const vulnerabilities = async (target: string) => {
    const filter = { workspace: [targetSpace(target)] }
    return (await store.vulnerabilities.list(filter, { offset: 0, limit: 100 })).data
  }
  const findings = async (target: string) =>
    (await vulnerabilities(target)).map(({ vuln_info, state }) => [vuln_info, state])
  const titles = async (target: string): Promise<string[]> =>
    (await vulnerabilities(target)).map(({ vuln_title }) => vuln_title)

  /** Names of the reports of a run, and the output of one of its steps. */
  const reports = async ({ id }: RunDetail): Promise<string[]> =>
    (await store.runs.artifacts(String(id)))?.data.map(({ name }) => name) ?? []
  const outputOf = async ({ id }: RunDetail, step: string): Promise<string> =>
    (await harness.steps(id)).find(({ step_name }) => step_name === step)?.output ?? ''

  const opened = scope.move()
  return {
    harness,
    results,
    scan,
    assets,
    vulnerabilities,
    findings,
    titles,
    reports,
    outputOf,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const listening = async (port = 0): Promise<Server> => {
  const server = createServer((_request, response) => response.end('x'))
  server.listen(port)
  await new Promise((resolve) => server.once('listening', resolve))
  return server
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port
const closed = async (server: Server): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

test.concurrent(
  'A port is gone when a later scan finds it closed, even if the scan finds nothing else',
  async () => {
    await using scans = await openScans()
    const { scan, assets } = scans
    const server = await listening()
    const port = portOf(server)
    const target = '127.0.0.1'
    const ports = (params = {}): Scan => ({
      kind: 'module',
      name: 'ports',
      target,
      params: { ports: String(port), ...QUICK, ...params },
    })
    expect(await scan(ports())).toMatchObject({ status: 'completed', error_message: '' })
    expect(await assets(target)).toEqual({ [`127.0.0.1:${port}`]: 'open' })
    await closed(server)
    // The speed does not make it a different scan.
    expect(await scan(ports({ scan_timeout: '3h', threads: '7' }))).toMatchObject({ status: 'completed' })
    expect(await assets(target)).toEqual({ [`127.0.0.1:${port}`]: 'gone' })
  },
)

test.concurrent(
  'A host that was not reached keeps its ports, whatever the scan finds on other hosts',
  async () => {
    await using scans = await openScans()
    const { harness, scan, assets } = scans
    const server = await listening()
    const port = portOf(server)
    const target = 'hosts-of-a-file'
    const hosts = join(harness.folder, 'hosts.txt')
    const both = { [`127.0.0.1:${port}`]: 'open', [`localhost:${port}`]: 'open' }
    const ports: Scan = {
      kind: 'module',
      name: 'ports',
      target,
      params: { ports: String(port), ...QUICK, hosts_file: hosts },
    }
    await writeFile(hosts, '127.0.0.1\nlocalhost\n')
    expect(await scan(ports)).toMatchObject({ status: 'completed' })
    expect(await assets(target)).toEqual(both)
    await closed(server)

    await writeFile(hosts, 'no-such-host.invalid\n')
    const unresolved = await scan(ports)
    expect(unresolved.status).toBe('failed')
    expect(unresolved.error_message).toContain('none of the hosts could be resolved')
    expect(await assets(target)).toEqual(both)

    await writeFile(hosts, '127.0.0.1\nno-such-host.invalid\n')
    expect(await scan(ports)).toMatchObject({ status: 'completed' })
    expect(await assets(target)).toEqual({ ...both, [`127.0.0.1:${port}`]: 'gone' })
  },
)

test.concurrent(
  'What service-survey found is not gone when the web server, or a firewall before it, stops answering',
  async () => {
    await using scans = await openScans()
    const { scan, vulnerabilities } = scans
    /** Paths whose requests are dropped while they are open, like by a firewall that has seen too many. */
    let dropped = /never/
    const server = createServer(({ url = '' }, response) => {
      if (dropped.test(url)) response.socket?.resetAndDestroy()
      else if (url === '/.env') response.end('SECRET=1')
      else response.writeHead(404).end()
    })
    await once(server.listen(0), 'listening')
    const target = `127.0.0.1:${portOf(server)}`
    const survey = () => scan({ kind: 'flow', name: 'service-survey', target })
    const state = async () =>
      (await vulnerabilities(target)).find(({ vuln_title: title }) => title.startsWith('Environment'))?.state
    expect(await survey()).toMatchObject({ outcome: 'clean' })
    expect(await state()).toBe('open')
    dropped = /env/
    expect(await survey()).toMatchObject({ outcome: 'partial' })
    expect(await state()).toBe('open')
    dropped = /./
    await survey()
    expect(await state()).toBe('open')
    dropped = /never/
    server.removeAllListeners('request')
    server.on('request', (_request, response) => response.writeHead(404).end())
    expect(await survey()).toMatchObject({ outcome: 'clean' })
    expect(await state()).toBe('gone')
    await closed(server)
  },
)

test.concurrent('a file of hosts that is empty ends the module without a scan of the target', async () => {
  await using scans = await openScans()
  const { harness, scan } = scans
  const hosts = join(harness.folder, 'none.txt')
  await writeFile(hosts, '')
  const run = await scan({
    kind: 'module',
    name: 'ports',
    target: '127.0.0.1',
    params: { hosts_file: hosts },
  })
  const steps = (await harness.steps(run.id)).map(({ step_name, status }) => [step_name, status])
  expect(steps).toContainEqual(['scan', 'skipped'])
})

test.concurrent(
  'ports scans the port of host:port alone, the host of a URL, and refuses what is no host',
  async () => {
    await using scans = await openScans()
    const { scan, assets, outputOf } = scans
    const server = await listening()
    const port = portOf(server)
    for (const target of [`localhost:${port}`, `[::1]:${port}`]) {
      const run = await scan({ kind: 'module', name: 'ports', target, params: QUICK })
      expect(run).toMatchObject({ status: 'completed', error_message: '' })
      expect(await assets(target)).toEqual({ [target]: 'open' })
    }
    const params = { ports: String(port), ...QUICK }
    const url = `http://localhost:${port}/x`
    expect(await scan({ kind: 'module', name: 'ports', target: url, params })).toMatchObject({
      status: 'completed',
    })
    expect(await assets(url)).toEqual({ [`localhost:${port}`]: 'open' })
    await closed(server)
    const refused = await scan({ kind: 'module', name: 'ports', target: 'a,b:22/x', params })
    expect(refused.status).toBe('failed')
    expect(await outputOf(refused, 'prepare')).toContain('ports scans a host, a network, host:port')
  },
)

test.concurrent(
  'A scanner that fails does not leave a report of an earlier run in the reports of this run',
  async () => {
    await using scans = await openScans()
    const { harness, results, scan, reports } = scans
    const server = await listening()
    const target = '127.0.0.2'
    const host = (params = {}): Scan => ({
      kind: 'flow',
      name: 'host',
      target,
      params: { ports: String(portOf(server)), ...QUICK, ...params },
    })
    await writeFile(results, '')
    const good = await scan(host())
    expect(good.status).toBe('completed')
    expect(await reports(good)).toEqual(expect.arrayContaining(['ports', 'ports-table', 'web', 'summary']))
    const summary = join(harness.folder, 'work/workspaces', target, 'summary.md')
    expect(await readFile(summary, 'utf8')).toContain('## ports')

    const bad = await scan(host({ nmap_args: '--no-such-option' }))
    expect((await harness.steps(bad.id)).find(({ step_name }) => step_name === 'scan')?.status).toBe('failed')
    expect(await reports(bad)).not.toEqual(expect.arrayContaining(['ports']))
    expect(await reports(bad)).not.toEqual(expect.arrayContaining(['ports-table']))
    expect(await readFile(summary, 'utf8')).not.toContain('## ports')
    await closed(server)
  },
)

test.concurrent('a network in which nothing is alive is a run without a scan of its ports', async () => {
  await using scans = await openScans('quiet')
  const { harness, scan } = scans
  const target = '192.0.2.4/30'
  const run = await scan({ kind: 'flow', name: 'cidr', target })
  expect(run).toMatchObject({ status: 'completed', error_message: '' })
  const steps = (await harness.steps(run.id))
    .filter(({ step_type }) => step_type === 'bash')
    .map(({ step_name, status }) => [step_name, status])
  expect(steps).toContainEqual(['ping', 'completed'])
  expect(steps).toContainEqual(['scan', 'skipped'])
  expect(steps).not.toContainEqual(['probe', 'completed'])
  const { data } = await harness.store.assets.list(
    { workspace: [targetSpace(target)] },
    { offset: 0, limit: 1 },
  )
  expect(data).toEqual([])
})

test.concurrent.each<Scan>([
  { kind: 'module', name: 'ports', target: '192.0.2.9', params: { ports: '80' } },
  { kind: 'flow', name: 'service-survey', target: '192.0.2.9:80' },
])('a host that never answers is no clean run of $name', async (silent) => {
  await using scans = await openScans('quiet')
  const { scan } = scans
  const run = await scan(silent)
  expect(run).toMatchObject({ status: 'completed', outcome: 'partial' })
  expect(run.outcome_reasons.join()).toMatch(/did not answer|no host answered/)
})

/** A network namespace with a server at 127.0.0.9:80, in which the tools of a scan run. */
const openNetwork = async (folder: string) => {
  const serve =
    "process.stdin.on('end', process.exit).resume();require('net').createServer((s) => s.on('error', () => {}).end()).listen(80, '127.0.0.9', () => console.log(1))"
  const up = 'ip link set lo up && exec "$0" -e "$1"'
  const server = spawn('unshare', ['-n', 'sh', '-c', up, process.execPath, serve], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  await Promise.race([once(server.stdout, 'data'), ended])
  const enter = ['-t', String(server.pid), '-n']
  await mkdir(folder, { recursive: true })
  for (const tool of ['nmap', 'awk', 'perl']) {
    const path = tool === 'nmap' ? process.env['SCANFARM_TEST_NMAP'] : `/usr/bin/${tool}`
    await writeFile(join(folder, tool), `#!/bin/sh\nexec nsenter ${enter.join(' ')} ${path} "$@"\n`, {
      mode: 0o755,
    })
  }
  return {
    filter: (what: string) =>
      execFileSync('nsenter', [...enter, 'nft', '-f', '-'], {
        input: `table ip t {\nchain c {\ntype filter hook input priority 0;\nip daddr 127.0.0.9 ${what}\n}\n}\n`,
      }),
    [Symbol.asyncDispose]: async () => {
      server.stdin.end()
      await ended
    },
  }
}

const testReject = canFilter ? test.concurrent : test.skip
testReject('a port that a firewall rejects by ICMP is not closed', async () => {
  await using scans = await openScans('rejecting')
  const { harness, scan, assets } = scans
  await using network = await openNetwork(join(harness.folder, 'bin/rejecting'))
  const target = '127.0.0.9'
  // Without the rights of root nmap cannot see the packet.
  const ports: Scan = {
    kind: 'module',
    name: 'ports',
    target,
    params: { ports: '80-110', nmap_args: '--unprivileged --version-intensity 0' },
  }
  const open = { kind: 'flow', name: 'service-survey', target: `${target}:80` } as const
  expect(await scan(ports)).toMatchObject({ status: 'completed', outcome: 'clean' })
  expect(await assets(target)).toMatchObject({ '127.0.0.9:80': 'open' })

  network.filter('tcp dport 80 reject')
  expect(await scan(ports)).toMatchObject({ status: 'completed', outcome: 'clean' })
  expect(await assets(target)).toMatchObject({ '127.0.0.9:80': 'open' })
  expect((await scan(open)).outcome_reasons.join()).toContain('did not answer')
  const known = { kind: 'module', name: 'known-weaknesses', target } as const
  const file = join(harness.folder, 'work/workspaces', target, 'open.jsonl')
  await writeFile(file, '{"host":"127.0.0.9","port":80,"protocol":"tcp"}\n')
  const weak = await scan({ ...known, params: { ports_file: file, nmap_args: '--unprivileged' } })
  expect(weak.outcome_reasons.join()).toContain('127.0.0.9:80 was open and is not any more')

  // More ports than are asked again at once: the firewall does not answer a second time.
  network.filter('tcp dport 1001-1100 limit rate over 1/day burst 100 packets drop')
  network.filter('tcp dport 1-65535 reject')
  for (const range of ['80-110', '1001-1100']) {
    const locked = await scan({ ...ports, params: { ...ports.params, ports: range } })
    expect(locked.outcome_reasons.join()).toContain('no host answered')
  }
})

const FOUND = (place: string) =>
  `${JSON.stringify({ 'template-id': 't-1', info: { name: 'T', severity: 'high' }, 'matched-at': place })}\n`

test.concurrent(
  'A finding is reported once, is gone when a scan finds nothing, and stays when the scan reached no host',
  async () => {
    await using scans = await openScans()
    const { harness, results, scan, findings } = scans
    let server = await listening()
    const port = portOf(server)
    const target = `http://localhost:${port}`
    const url: Scan = { kind: 'flow', name: 'url', target }
    await writeFile(results, FOUND(target))
    expect(await scan(url)).toMatchObject({ status: 'completed', error_message: '' })
    expect(await scan({ ...url, params: { rate: '5' } })).toMatchObject({ status: 'completed' })
    const { data: events } = await harness.store.events.list(
      { topic: 'vuln.found' },
      { offset: 0, limit: 10 },
    )
    expect(events.map(({ data }) => JSON.parse(data) as unknown)).toEqual([
      expect.objectContaining({ vuln_info: 't-1', asset_value: target }),
    ])

    await closed(server)
    await writeFile(results, '')
    // A host that refuses connections was reached; a name that does not resolve was not.
    await writeFile(join(harness.folder, 'urls.txt'), 'http://no-such-host.invalid\n')
    const unreached = await scan({
      kind: 'module',
      name: 'vulnerabilities',
      target,
      params: { urls_file: join(harness.folder, 'urls.txt') },
    })
    expect(unreached).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('none of the hosts answers'),
    })
    expect(await findings(target)).toEqual([['t-1', 'open']])

    server = await listening(port)
    expect(await scan(url)).toMatchObject({ status: 'completed' })
    expect(await findings(target)).toEqual([['t-1', 'gone']])
    await closed(server)
  },
)

test.concurrent('the service survey finds a Redis without a password', async () => {
  await using scans = await openScans()
  const { harness, scan, titles } = scans
  const free = await listening()
  const port = portOf(free)
  await closed(free)
  const redis = spawn('redis-server', ['--port', String(port), '--save', '', '--dir', harness.folder])
  try {
    for await (const chunk of redis.stdout) if (String(chunk).includes('eady to accept')) break
    const target = `127.0.0.1:${port}`
    expect(await scan({ kind: 'flow', name: 'service-survey', target })).toMatchObject({
      status: 'completed',
    })
    expect(await titles(target)).toEqual(['Redis without a password'])
  } finally {
    redis.kill()
    await once(redis, 'close')
  }
})

test.concurrent('the service survey asks a web server at an address of IPv6', async () => {
  await using scans = await openScans()
  const { scan, assets, titles } = scans
  const server = await listening()
  const target = `::1:${portOf(server)}`
  expect(await scan({ kind: 'flow', name: 'service-survey', target })).toMatchObject({ status: 'completed' })
  const place = `[::1]:${portOf(server)}`
  expect(await assets(target)).toEqual({ '::1': 'open', [place]: 'open', [`http://${place}/`]: 'open' })
  expect(await titles(target)).toContain('HTTP service')
  await closed(server)
  expect(await scan({ kind: 'flow', name: 'service-survey', target })).toMatchObject({ status: 'completed' })
  expect(await assets(target)).toEqual({ '::1': 'open', [place]: 'gone', [`http://${place}/`]: 'gone' })
})

test.concurrent('The service survey refuses a target without host or port', async () => {
  await using scans = await openScans()
  for (const target of ['::1', 'fe80::1', 'localhost', ':80', 'http://localhost:80', 'localhost:'])
    expect(await scans.scan({ kind: 'flow', name: 'service-survey', target })).toMatchObject({
      target,
      status: 'failed',
      error_message: expect.stringContaining('a target of this flow is host:port, this one is '),
    })
  const banner = await scans.scan({ kind: 'module', name: 'service-banner', target: '127.0.0.1:1' })
  expect(banner).toMatchObject({
    status: 'failed',
    error_message: expect.stringContaining('start the flow service-survey'),
  })
})

test.concurrent.each([
  ['234 Proceed with negotiation.', 'FTP service'],
  ['530 Please login with USER and PASS.', 'FTP service without encryption'],
])('the service survey asks FTP for encryption: %s', async (reply, title) => {
  await using scans = await openScans()
  const { scan, titles } = scans
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('220 (vsFTPd 3.0.3)\r\n')
    socket.on('data', (line) =>
      socket.write(String(line) === 'AUTH TLS\r\n' ? `${reply}\r\n` : '500 What?\r\n'),
    )
  })
  await once(server.listen(0), 'listening')
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await scan({ kind: 'flow', name: 'service-survey', target })).toMatchObject({ status: 'completed' })
  expect(await titles(target)).toEqual([title])
  await new Promise((resolve) => server.close(resolve))
})

test('content finds what must not be served by its text, and takes no page for it', async () => {
  const html = (text: string): string => `<!DOCTYPE html><html><title>${text}</title><p>${text}</html>`
  const served: Readonly<Record<string, string>> = {
    '/.env': 'DB_PASSWORD=x\n',
    '/.env.local': html('KEY=nothing here'),
    '/.git/config': '[core]\n\tbare = false\n',
    '/.git/HEAD': 'ref: refs/heads/main\n',
    '/dump.sql': '-- dump\nCREATE TABLE users (id int);\n',
    '/backup.sql': html('CREATE TABLE not found'),
    '/id_rsa': 'no key\n',
    '/files/': html('Index of /files/'),
    '/admin/': html('All users'),
    '/console/': html('Please log in'),
    '/robots.txt': 'User-agent: *\n',
  }
  await using server = createServer(({ url = '' }, response) => {
    const text = served[url]
    response.writeHead(text === undefined ? 404 : 200).end(text ?? 'not found')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await using scans = await openScans()
  const run = await scans.scan({ kind: 'module', name: 'content', target })
  expect(run).toMatchObject({ outcome: 'clean', outcome_reasons: [] })
  // The two files of the repository are one finding.
  expect((await scans.findings(target)).map(([check]) => check).sort()).toEqual([
    'content-admin-page',
    'content-database-dump',
    'content-directory-listing',
    'content-env-file',
    'content-git-repository',
  ])
})
