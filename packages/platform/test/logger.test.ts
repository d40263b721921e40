import { Writable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { createLogger, Secret, type LoggerOptions } from '../src/index.ts'

const logTo = (options: Partial<LoggerOptions> & { isTTY?: boolean } = {}) => {
  const lines: string[] = []
  const stream = Object.assign(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(String(chunk))
        done()
      },
    }),
    { isTTY: options.isTTY ?? false },
  )
  return { log: createLogger({ level: 'info', format: 'auto', stream, ...options }), lines }
}

test('away from a terminal a line is one JSON object with the fields of its children', () => {
  const { log, lines } = logTo()
  log.child({ component: 'dispatcher' }).child({ runId: 7 }).info('sent', { count: 2 })
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    message: 'sent',
    component: 'dispatcher',
    runId: 7,
    count: 2,
    timestamp: expect.any(String),
  })
})

test('on a terminal a line is for people', () => {
  const { log, lines } = logTo({ isTTY: true })
  log.warn('slow', { ms: 12, who: 'me' })
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} .*warn .*slow ms=12 who=me\n$/)
})

test('lines below the level are not written', () => {
  const { log, lines } = logTo()
  log.debug('unseen')
  expect(lines).toEqual([])
})

test('secrets, fields with telling names, credentials in URLs and bearer tokens are masked at any depth', () => {
  const { log, lines } = logTo()
  log.error('failed', {
    token: 'one',
    nested: { password: 'two', list: [{ apiKey: 'three' }], held: new Secret('four') },
    error: new Error('connect postgres://u:five@h/d', { cause: new Error('Bearer sixsixsixsix') }),
    tokens: 3,
  })
  const line = lines[0] ?? ''
  for (const value of ['one', 'two', 'three', 'four', 'five', 'sixsixsixsix'])
    expect(line).not.toMatch(`${value}"`)
  expect(line).not.toMatch('five')
  expect(line).not.toMatch('sixsix')
  expect(JSON.parse(line)).toMatchObject({ tokens: 3, error: { message: 'connect postgres://u:***@h/d' } })
})

test('an error is logged with its stack and its cause', () => {
  const { log, lines } = logTo()
  log.error('failed', { error: new TypeError('x', { cause: new Error('y') }) })
  expect(JSON.parse(lines[0] ?? '').error).toMatchObject({
    name: 'TypeError',
    message: 'x',
    stack: expect.stringContaining('logger.test'),
    cause: { message: 'y' },
  })
})
