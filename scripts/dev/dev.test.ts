import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = join(import.meta.dirname, '../..')

test('npm run dev restarts the master and the worker when a source file changes, and stops both on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanfarm-dev-'))
  const dev = spawn(join(ROOT, 'scripts/run'), ['scripts/dev/main.ts', '--debugger-port', '0'], {
    cwd: ROOT,
    env: { ...process.env, SCANFARM_DATA_DIR: folder, SCANFARM_HTTP_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const lines = createInterface({ input: dev.stdout })[Symbol.asyncIterator]()
  const lineWith = async (...texts: string[]): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the output ended before a line with ${texts.join(', ')}`)
      if (texts.every((text) => value.includes(text))) return value
    }
  }
  const bothRun = async (): Promise<string> => {
    const started = [await lineWith('│', 'joined the farm'), await lineWith('│', 'joined the farm')]
    return started
      .map((line) => line.split(' ')[0])
      .sort()
      .join(' ')
  }
  try {
    expect(await bothRun()).toBe('master worker')
    const now = new Date()
    // Programs of other tests start from the bundle: a file that is part of it would have it built again.
    utimesSync(join(ROOT, 'packages/testing/src/index.ts'), now, now)
    await lineWith('Restarting')
    expect(await bothRun()).toBe('master worker')
    dev.kill('SIGTERM')
    await once(dev, 'exit')
    expect(dev.exitCode).toBe(0)
  } finally {
    if (dev.exitCode === null && dev.pid !== undefined) process.kill(-dev.pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})
