import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { NOTHING_IMPORTED } from '@scanfarm/contracts'
import type { FunctionServices, ImportedBy } from '@scanfarm/functions'
import { useRuns } from '../harness/runs.ts'

const MODULE = readFileSync(join(import.meta.dirname, '../../../../workflows/modules/tls.yaml'), 'utf8')
const TEST_MS = 120_000

/** Writes what sslscan 2.0.7 writes, also for services that hang up after STARTTLS or refuse AUTH: code 0. */
const SSLSCAN = `#!/bin/sh
for word; do case $word in --xml=*) report=\${word#--xml=} ;; esac; done
echo "$word" >> "$(dirname "$0")/called"
case "$*" in
  *--starttls-*)
    echo '<document title="SSLScan Results"><error>Could not open a connection</error></document>' > "$report"
    echo 'ERROR: Could not open a connection to host h on port 21.'
    echo 'Version: 2.0.7' ;;
  *) printf '<document title="SSLScan Results">\\n<ssltest host="h" port="1">\\n<protocol type="tls" version="1.2" enabled="1" />\\n</ssltest>\\n</document>\\n' > "$report" ;;
esac
`

const { run, folder } = useRuns()
const servers: Server[] = []
/** A server that answers what it first receives. */
const serve = async (answer: (socket: Socket) => void): Promise<number> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    answer(socket)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

let plain = 0
let tls = 0
let starting = 0
beforeAll(async () => {
  plain = await serve((socket) => socket.write('220 no TLS here\r\n'))
  starting = await serve((socket) => socket.end())
  // An alert, as from a server that accepts none of the versions.
  tls = await serve((socket) =>
    socket.once('data', () => socket.write(Buffer.from([0x15, 3, 1, 0, 2, 2, 70]))),
  )
})
afterAll(() => {
  for (const server of servers) server.close()
})

const check = async (services: readonly { port: number; service: string }[]) => {
  const programs = mkdtempSync(join(folder(), 'programs-'))
  writeFileSync(join(programs, 'sslscan'), SSLSCAN)
  chmodSync(join(programs, 'sslscan'), 0o755)
  const output = mkdtempSync(join(folder(), 'out-'))
  const ports = join(output, 'ports.jsonl')
  writeFileSync(
    ports,
    services.map((one) => `${JSON.stringify({ host: '127.0.0.1', protocol: 'tcp', ...one })}\n`).join(''),
  )
  const imports: Pick<ImportedBy, 'reached' | 'untested'>[] = []
  const database = {
    importReport: async (
      _workspace: string,
      _format: string,
      _report: unknown,
      { reached, untested }: ImportedBy,
    ) => {
      imports.push({ reached, untested })
      return NOTHING_IMPORTED
    },
  } as unknown as NonNullable<FunctionServices['database']>
  const { status, tally, recorder } = await run(MODULE, {
    params: { ports_file: ports },
    env: { PATH: `${programs}:${process.env['PATH'] ?? ''}`, HOME: programs },
    folders: { output, temp: join(output, 'tmp') },
    services: { database },
  })
  let called = ''
  try {
    called = readFileSync(join(programs, 'called'), 'utf8')
  } catch {
    // sslscan was not started.
  }
  return {
    status,
    failed: tally.failedSteps,
    reasons: tally.reasons,
    imports,
    called: called.trim().split('\n').filter(Boolean),
    recorder,
  }
}

test(
  'A port without TLS fails before sslscan waits for it, and is named as not tested',
  async () => {
    const { status, failed, reasons, imports, called, recorder } = await check([
      { port: plain, service: 'ssl/http' },
      { port: tls, service: 'https' },
    ])
    expect({ status, failed, called, reasons }).toEqual({
      reasons: [expect.any(String)],
      status: 'completed',
      failed: 1,
      called: [`127.0.0.1:${tls}`],
    })
    expect(imports).toEqual([
      {
        reached: [`127.0.0.1:${tls}`],
        untested: [{ place: `127.0.0.1:${plain}`, reason: 'it does not answer in TLS' }],
      },
    ])
    expect(recorder.byName('check-service').errorMessage).toBe(
      `command exited with code 1: TLS of 127.0.0.1:${plain} could not be checked: it does not answer in TLS`,
    )
  },
  TEST_MS,
)

test(
  'A service that does not start TLS is not tested, with the error of sslscan, and nothing fails',
  async () => {
    const { status, failed, reasons, imports } = await check([{ port: starting, service: 'ftp' }])
    expect({ status, failed, reasons }).toEqual({ status: 'completed', failed: 0, reasons: [] })
    expect(imports).toEqual([
      {
        reached: [],
        untested: [
          { place: `127.0.0.1:${starting}`, reason: 'Could not open a connection to host h on port 21.' },
        ],
      },
    ])
  },
  TEST_MS,
)

test(
  'A module that could check no service that should have TLS fails',
  async () => {
    const { status, imports, reasons } = await check([{ port: plain, service: 'https' }])
    expect({ status, imports }).toEqual({ status: 'failed', imports: [] })
    expect(reasons.join()).toContain('TLS of none of the services could be checked')
  },
  TEST_MS,
)
