import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const FIXTURE = fileURLToPath(new URL('fixtures/main.ts', import.meta.url))

/** A time limit that no test exceeds. */
const AMPLE_MS = 3_600_000

/** Runs the fixture, sends a signal at each of the given lines, and returns its exit code and output. */
const runProgram = async (
  how: string,
  signals: readonly { at: string; signal: NodeJS.Signals }[] = [],
  { stopMs = AMPLE_MS, crash = false } = {},
) => {
  const args = [how, String(stopMs), ...(crash ? ['crash'] : [])]
  const child = spawn(process.execPath, [FIXTURE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    for (const { at, signal } of signals) if (line.includes(at)) child.kill(signal)
  }
  const [code] = (await ended) as [number | null]
  return { code, text: lines.join('\n'), errors }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s stops the program in order with exit code 0',
  async (signal) => {
    const { code, text } = await runProgram('well', [{ at: 'ready', signal }])
    expect(code).toBe(0)
    expect(text).toMatch(/ready[^]*stopping[^]*stopped/)
  },
)

test('A second signal ends the program at once with exit code 128 + signal', async () => {
  const { code } = await runProgram('never', [
    { at: 'ready', signal: 'SIGTERM' },
    { at: 'stopping', signal: 'SIGINT' },
  ])
  expect(code).toBe(130)
})

test('A stop that exceeds its time limit exits with code 1 and logs it', async () => {
  const { code, text } = await runProgram('never', [{ at: 'ready', signal: 'SIGTERM' }], { stopMs: 50 })
  expect(code).toBe(1)
  expect(text).toMatch('exceeded its time limit')
})

test('A stop that fails ends with exit code 1 and the reason', async () => {
  const { code, text } = await runProgram('badly', [{ at: 'ready', signal: 'SIGTERM' }])
  expect(code).toBe(1)
  expect(text).toMatch('cannot stop')
})

test('A start that fails ends with exit code 1 and the reason', async () => {
  const { code, text } = await runProgram('unstarted')
  expect(code).toBe(1)
  expect(text).toMatch('no room')
})

test('An unhandled rejection stops the program in order with exit code 1', async () => {
  const { code, text } = await runProgram('well', [], { crash: true })
  expect(code).toBe(1)
  expect(text).toMatch(/a bug[^]*stopped/)
})

test('Lines that libraries and Node print become entries of the log', async () => {
  const { text, errors } = await runProgram('noisy', [{ at: 'ready', signal: 'SIGTERM' }])
  const output = `${text}\n${errors}`.split('\n').filter((line) => !['', 'ready'].includes(line))
  const entries = output.map((line): unknown => JSON.parse(line))
  expect(entries).toContainEqual(expect.objectContaining({ text: 'raw line of a library' }))
  expect(entries).toContainEqual(expect.objectContaining({ text: 'an old interface is used' }))
})
