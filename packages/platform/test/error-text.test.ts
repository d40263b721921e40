import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { errorText } from '../src/index.ts'

test('The text of an error is one line with its message and those of its causes, each once', () => {
  const root = new Error('no room')
  const middle = new Error('disk full: no room', { cause: root })
  expect(errorText(new Error('cannot write', { cause: middle }))).toBe('cannot write: disk full: no room')
})

test('The text of a failed connection is not empty', async () => {
  const error: unknown = await once(connect({ host: 'localhost', port: 1 }), 'connect').catch(
    (reason: unknown) => reason,
  )
  expect(errorText(error)).toMatch('ECONNREFUSED')
})

test('The text of a value that is not an error is the value', () => {
  expect(errorText('plain')).toBe('plain')
})

test('The text of an error is cut, because a message may contain a value of any length', () => {
  const long = new Error('failed', { cause: new Error('x'.repeat(1_000_000)) })
  expect(errorText(long)).toMatch(/^failed: x+…$/)
  expect(errorText(long)).toHaveLength(65_536)
})
