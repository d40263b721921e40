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
  return { log: createLogger({ level: 'info', stream, ...options }), lines }
}

test('Without a terminal, a log line is one JSON object with the fields of its child loggers', () => {
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

test('On a terminal, a log line is readable text', () => {
  const { log, lines } = logTo({ isTTY: true })
  log.warn('slow', { ms: 12, who: 'me' })
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} .*warn .*slow ms=12 who=me\n$/)
})

test.each([
  ['1', /^\d\d:\d\d:/],
  ['0', /^\{/],
])('FORCE_COLOR=%s decides without a terminal', (value, form) => {
  process.env['FORCE_COLOR'] = value
  try {
    const { log, lines } = logTo()
    log.info('started')
    expect(lines[0]).toMatch(form)
  } finally {
    delete process.env['FORCE_COLOR']
  }
})

test('Lines below the level are not written', () => {
  const { log, lines } = logTo()
  log.debug('unseen')
  expect(lines).toEqual([])
})

test('Secrets, fields with secret names, credentials in URLs and bearer tokens are masked at any depth', () => {
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

test('Tokens, logins and passwords are masked anywhere in a text', () => {
  const { log, lines } = logTo()
  const login = `eyJhbGciOiJIUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(43)}`
  const texts = [
    `Send it as: sfm_${'t'.repeat(43)}`,
    `x-osm-api-key: sfm_${'u'.repeat(43)}, again`,
    `the login ${login} has ended`,
    'host=db user=scan password=hunter22 dbname=scan',
    'GET /x?access_token=hunter22&api_key=hunter22',
    'redis://:hunter22@127.0.0.1:6379 and postgres://scan:hunter22@db/scan',
    'requirepass hunter22',
    'env PGPASSWORD=hunter22 psql',
    '{"password":"hunter22","name":"kim"}',
  ]
  for (const text of texts) log.warn(text, { text, error: new Error(text) })
  const written = lines.join('')
  for (const secret of ['hunter22', 'ttttt', 'uuuuu', 'aaaaa', 'bbbbb']) expect(written).not.toContain(secret)
  expect(written).toContain('redis://:***@127.0.0.1:6379 and postgres://scan:***@db/scan')
  expect(written).toContain('dbname=scan')
  expect(written).toContain('sfm_***')
})

test('The time of masking grows linearly with the length of the text', () => {
  const { log, lines } = logTo()
  const before = process.cpuUsage()
  for (const part of ['a', 'a.', '://', 'eyJ', 'token ', 'password=', 'bearer ', 'sfm_'])
    log.info(part.repeat(1_000_000 / part.length))
  expect(lines).toHaveLength(8)
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000)
})

test('An error is logged with its stack and its cause', () => {
  const { log, lines } = logTo()
  log.error('failed', { error: new TypeError('x', { cause: new Error('y') }) })
  expect(JSON.parse(lines[0] ?? '').error).toMatchObject({
    name: 'TypeError',
    message: 'x',
    stack: expect.stringContaining('logger.test'),
    cause: { message: 'y' },
  })
})
