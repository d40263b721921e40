import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { listen } from '@scanfarm/testing'

const MAIN = join(import.meta.dirname, '../src/main.ts')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-output-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly code: number | null
  readonly err: string
}

/** Runs the program with its standard output on a file, or on a pipe whose reader exits after the first bytes. */
const run = (args: readonly string[], output: string | undefined, url = '') =>
  new Promise<Ended>((resolve, reject) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const file = output === undefined ? undefined : openSync(output, 'w')
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], {
      env: { PATH, NODE_COMPILE_CACHE, SCANFARM_DATA_DIR: folder, SCANFARM_URL: url },
      stdio: ['ignore', file ?? 'pipe', 'pipe'],
    })
    if (file !== undefined) closeSync(file)
    let err = ''
    child.stderr?.on('data', (chunk: Buffer) => (err += String(chunk)))
    child.stdout?.once('data', () => child.stdout?.destroy())
    child.once('error', reject).once('close', (code) => resolve({ code, err }))
  })

test.each([
  [['workflow', 'schema']],
  [['config', '-o', 'json']],
  [['function', 'list']],
  [['run', '--help']],
])('scanfarm %j ends with a message of one line when its output cannot be written', async (args) => {
  expect(await run(args, '/dev/full')).toEqual({
    code: 1,
    err: 'scanfarm: the output cannot be written: no space is left on its disk\n',
  })
})

const withServer = async (listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> => {
  const server = createServer(listener)
  const port = await listen(server)
  try {
    await use(`http://127.0.0.1:${port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test('findings export ends with a message of one line and exit code 4 when the server cuts off the answer', async () => {
  const cutOff: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('a,b\n', () => response.destroy())
  }
  await withServer(cutOff, async (url) =>
    expect(await run(['findings', 'export', '--format', 'csv'], '/dev/null', url)).toEqual({
      code: 4,
      err: expect.stringMatching(/^scanfarm: the output is not complete: the answer was cut off: .*\n$/),
    }),
  )
})

test('runs ends without a message when the reader of its output exits', async () => {
  const runs = Array.from({ length: 20_000 }, (_, id) => ({
    id,
    status: 'completed',
    target: `host-${id}.test`,
  }))
  const list: RequestListener = (_request, response) => response.end(JSON.stringify({ data: runs }))
  await withServer(list, async (url) => {
    for (const args of [['runs'], ['runs', '--json']])
      expect(await run(args, undefined, url)).toEqual({ code: 141, err: '' })
  })
})
