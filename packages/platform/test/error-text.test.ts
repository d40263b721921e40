import { connect } from 'node:net'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { errorText } from '../src/index.ts'

test('the messages of an error and its causes make one line, each said once', () => {
  const root = new Error('no room')
  const middle = new Error('disk full: no room', { cause: root })
  expect(errorText(new Error('cannot write', { cause: middle }))).toBe('cannot write: disk full: no room')
})

test('a failed connection says more than nothing', async () => {
  const error: unknown = await once(connect({ host: 'localhost', port: 1 }), 'connect').catch(
    (reason: unknown) => reason,
  )
  expect(errorText(error)).toMatch('ECONNREFUSED')
})

test('what is no error is said as it is', () => {
  expect(errorText('plain')).toBe('plain')
})
