import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { NOTHING_IMPORTED } from '@scanfarm/contracts'
import { scopeParams, type Param } from '@scanfarm/language'
import type { FunctionServices, ImportedBy } from '@scanfarm/functions'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

interface Imported {
  readonly rows: readonly object[]
  readonly reached: ImportedBy['reached']
  readonly untested?: ImportedBy['untested']
}

/** Runs expressions in a folder with these files; answers what they import. */
const imports = async (expressions: readonly string[], files: Readonly<Record<string, string | Buffer>>) => {
  const output = mkdtempSync(join(folder(), 'reached-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(output, name), text)
  const imported: Imported[] = []
  const keep = async (_workspace: string, rows: readonly object[], { reached, untested }: ImportedBy) => {
    imported.push({ rows, reached, ...(untested && { untested }) })
    return { ...NOTHING_IMPORTED, new: rows.length }
  }
  const database = {
    importAssets: keep,
    importVulnerabilities: keep,
  } as unknown as FunctionServices['database']
  const steps = expressions.map((expression, n) => ({
    name: `s${n}`,
    type: 'function',
    function: expression,
  }))
  const { status, errorMessage } = await run(`kind: module\nname: main\nsteps: ${JSON.stringify(steps)}\n`, {
    folders: { output, temp: join(output, 'tmp') },
    services: database === undefined ? {} : { database },
  })
  return { imported, status, errorMessage, read: (name: string) => readFileSync(join(output, name), 'utf8') }
}

const host = (address: string, status: string, ports: string, more = '') =>
  `<host ${more}><status ${status}/><address addr="${address}" addrtype="ipv4"/><ports>${ports}</ports></host>`
const port = (number: number, state: string, reason: string, more = '', protocol = 'tcp') =>
  `<port protocol="${protocol}" portid="${number}"><state state="${state}" reason="${reason}"/>${more}</port>`
const UP = 'state="up" reason="user-set"'
const FILTERED =
  '<extraports state="filtered" count="9"><extrareasons reason="no-response" count="9"/></extraports>'
const CLOSED = '<extraports state="closed" count="9"><extrareasons reason="resets" count="9"/></extraports>'
const REPORT = `<nmaprun>
${host('10.0.0.1', UP, port(443, 'open', 'syn-ack', '<service name="http" product="nginx" tunnel="ssl"/>') + port(22, 'closed', 'reset'))}
${host('10.0.0.2', UP, FILTERED)}
${host('10.0.0.3', UP, CLOSED)}
${host('10.0.0.4', UP, CLOSED, 'timedout="true"')}
${host('10.0.0.5', 'state="up" reason="echo-reply"', FILTERED)}
${host('10.0.0.6', UP, port(53, 'open', 'udp-response', '', 'udp') + port(9, 'filtered', 'admin-prohibited'))}
</nmaprun>`

describe('the hosts that a scan reached', () => {
  const answered = ['10.0.0.1', '10.0.0.3', '10.0.0.5', '10.0.0.6']

  test('reached hosts are read from a report that exceeds the text limit of functions', async () => {
    const padding = `<hostscript><script id="x" output="${'x'.repeat(1 << 20)}"/></hostscript></host>`
    const large = REPORT.replaceAll('</host>', padding).replace('</nmaprun>', '')
    const many = Array.from({ length: 4 }, (_, n) => large.slice(10).replaceAll('10.0.0.', `10.0.${n}.`))
    const report = `<nmaprun>${many.join('')}</nmaprun>`
    expect(report.length).toBeGreaterThan(16 << 20)
    const { status, errorMessage, read } = await imports(['nmap_reached("scan.xml", "hosts.txt")'], {
      'scan.xml': report,
    })
    expect([status, errorMessage]).toEqual(['completed', ''])
    const all = [0, 1, 2, 3].flatMap((n) => answered.map((ip) => ip.replace('10.0.0.', `10.0.${n}.`)))
    expect(read('hosts.txt').trim().split('\n')).toEqual(expect.arrayContaining(all))
  })

  test('the hosts that responded in an nmap report are reached, and the import of its ports names them', async () => {
    const { imported, read } = await imports(
      [
        'nmap_reached("x.xml", "r.txt")',
        'nmap_ports_to_jsonl("x.xml", "p.jsonl")',
        'db_import_port_assets("", "p.jsonl")',
      ],
      { 'x.xml': REPORT },
    )
    expect(read('r.txt').trim().split('\n')).toEqual(answered)
    expect(imported).toEqual([
      {
        rows: [
          expect.objectContaining({ asset_value: '10.0.0.1:443', title: 'ssl/http nginx' }),
          expect.objectContaining({ asset_value: '10.0.0.6:53/udp', open_ports: ['53/udp'] }),
        ],
        reached: answered,
      },
    ])
  })

  test('with the list of what was scanned, what did not answer is named too, and imports tell it apart', async () => {
    const dropped =
      '<extraports state="filtered" count="4"><extrareasons reason="no-responses" count="4" proto="tcp" ports="1-3,8080"/></extraports>'
    const rejected =
      '<extraports state="filtered" count="2"><extrareasons reason="port-unreaches" count="1" proto="tcp" ports="80"/><extrareasons reason="no-routes" count="1" proto="tcp" ports="81"/></extraports>'
    const refused =
      '<extraports state="closed" count="2"><extrareasons reason="resets" count="2" proto="tcp" ports="5,7"/></extraports>'
    const old =
      '<extraports state="filtered" count="998"><extrareasons reason="no-responses" count="998"/></extraports>'
    const ssh = port(22, 'open', 'syn-ack')
    const report = `<nmaprun>
${host('10.0.0.1', UP, ssh + port(80, 'filtered', 'no-response') + port(53, 'open|filtered', 'no-response', '', 'udp') + dropped + refused)}
${host('10.0.0.2', UP, FILTERED)}
${host('10.0.0.3', UP, port(22, 'filtered', 'port-unreach') + rejected)}
${host('fe80::1', UP, old + ssh + port(9, 'closed', 'reset'))}
</nmaprun>`
    const { read, imported } = await imports(
      [
        'nmap_reached("x.xml", "r.txt", "hosts.txt")',
        'nmap_ports_to_jsonl("x.xml", "p.jsonl", "open")',
        'db_import_port_assets("", "p.jsonl", "nmap", "r.txt")',
      ],
      { 'x.xml': report, 'hosts.txt': '10.0.0.1\n10.0.0.0/30\n10.0.0-9.1\nfe80::1\nNo-Such.invalid\n' },
    )
    const dropped80 = 'nothing came back from this port, possibly because of a firewall'
    const off = 'none of its ports answered: it is off, or behind a firewall'
    expect(read('r.txt').trim().split('\n')).toEqual([
      '10.0.0.1',
      'fe80::1',
      `? 10.0.0.1:1-3,80-8080 ${dropped80}`,
      `? 10.0.0.1:53/udp ${dropped80}`,
      `? 10.0.0.2 ${off}`,
      `? 10.0.0.3 ${off}`,
      `? [fe80::1]:1-8,10-21,23-65535 ${dropped80}`,
      '? no-such.invalid its name could not be resolved',
    ])
    const silent = { reason: dropped80, silent: true }
    expect(imported).toMatchObject([
      {
        reached: ['10.0.0.1', 'fe80::1'],
        untested: expect.arrayContaining([
          { place: '10.0.0.1', ports: '{[1,3],[80,8080]}', ...silent },
          { place: '10.0.0.1:53/udp', ...silent },
          { place: '10.0.0.2', ...silent, reason: off },
          { place: '[fe80::1]', ports: '{[1,8],[10,21],[23,65535]}', ...silent },
        ]),
      },
    ])
  })

  test.each([
    ['behind a tag', REPORT.slice(0, REPORT.lastIndexOf('<port ')), false],
    ['inside of a tag', REPORT.slice(0, REPORT.lastIndexOf('portid')), false],
    ['between hosts', REPORT.slice(0, REPORT.lastIndexOf('<host')), true],
  ])(
    'no reached hosts are read from a report that is truncated inside a host: %s',
    async (_place, report, isRead) => {
      const { imported } = await imports(
        ['nmap_to_jsonl("x.xml", "h.jsonl")', 'db_import_port_assets("", "h.jsonl")'],
        { 'x.xml': report },
      )
      expect(imported).toHaveLength(isRead ? 1 : 0)
    },
  )

  test('a report in UTF-16 is read, and one that ends before its first host is not', async () => {
    const { imported, read } = await imports(
      [
        'nmap_ports_to_jsonl("x.xml", "p.jsonl")',
        'nmap_reached("cut.xml", "r.txt")',
        'save_content(String(file_exists("r.txt")), "answer.txt")',
        'db_import_port_assets("", "p.jsonl")',
      ],
      { 'x.xml': Buffer.from(`\uFEFF${REPORT}`, 'utf16le'), 'cut.xml': '<nmaprun><host starttime="1' },
    )
    expect(imported).toMatchObject([{ rows: [{ asset_value: '10.0.0.1:443' }, {}], reached: answered }])
    expect(read('answer.txt')).toBe('false')
  })

  test('a report without ports also names its reached hosts', async () => {
    const { imported } = await imports(
      ['nmap_to_jsonl("x.xml", "h.jsonl")', 'db_import_port_assets("", "h.jsonl")'],
      { 'x.xml': '<nmaprun><runstats><hosts up="0" down="0" total="0"/></runstats></nmaprun>' },
    )
    expect(imported).toEqual([{ rows: [], reached: [] }])
  })

  test('reached hosts are read from the file that an import names, and there are none if it is missing', async () => {
    const { imported } = await imports(
      [
        'db_import_vuln_from_file("", "f", "r")',
        'db_import_vuln_from_file("", "f", "none")',
        'db_import_vuln_from_file("", "f")',
      ],
      { f: '', r: 'http://a\n\nb:1\nb:1\n' },
    )
    expect(imported).toEqual([
      { rows: [], reached: ['b:1', 'http://a'] },
      { rows: [], reached: [] },
      { rows: [], reached: undefined },
    ])
  })

  test('hosts that accept or refuse a connection are reached', async () => {
    const server = createServer().listen(0)
    await new Promise((resolve) => server.once('listening', resolve))
    const { port: open } = server.address() as AddressInfo
    const other = createServer().listen(0)
    await new Promise((resolve) => other.once('listening', resolve))
    const { port: refused } = other.address() as AddressInfo
    await new Promise((resolve) => other.close(resolve))
    const lines = [`http://localhost:${open}/x?y`, `127.0.0.1:${refused}`, `[::1]:${open}`, 'localhost']
    const { read } = await imports(['answering_hosts("in", "out")'], {
      in: [...lines, 'http://no-such-host.invalid', 'no-such-host.invalid:22', '10.0.0.0/8', lines[0]].join(
        '\n',
      ),
    })
    expect(read('out').trim().split('\n')).toEqual(lines)
    await new Promise((resolve) => server.close(resolve))
  })

  test('one import has at most 100,000 reached hosts', async () => {
    const many = Array.from({ length: 100_001 }, (_, n) => `h${n}`).join('\n')
    const { status, errorMessage } = await imports(['db_import_vuln_from_file("", "f", "r")'], {
      f: '',
      r: many,
    })
    expect({ status, errorMessage }).toEqual({
      status: 'failed',
      errorMessage: expect.stringContaining('100000'),
    })
  })
})

test('the params of a scope are those that define what is scanned', () => {
  const params: Param[] = [
    { name: 'ports', default: '80' },
    { name: 'wait', scope: false },
    { name: 'scan_timeout' },
    { name: 'rate', scope: true },
    { name: 'severity' },
  ]
  const flow = {
    format: 1 as const,
    root: { kind: 'flow' as const, name: 'f' },
    modules: { m: { kind: 'module' as const, name: 'm', params } },
  }
  const given = {
    ports: '80',
    wait: '1',
    scan_timeout: '2h',
    rate: '9',
    severity: 'low',
    threads: '4',
    tactic: 'gently',
    other: 'x',
  }
  expect(scopeParams(flow, given)).toEqual({ rate: '9', severity: 'low', other: 'x' })
  expect(scopeParams(flow, { ports: '81' })).toEqual({ ports: '81' })
})
