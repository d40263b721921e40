import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { looksLikeLogin, signLogin, verifyLogin } from '../../src/access/login-token.ts'

const KEY = new Uint8Array(32).fill(7)
const NOW = 1_800_000_000_000
const claims = { sub: '5', name: 'ada', mark: 'x', iat: NOW / 1000, exp: NOW / 1000 + 60 }
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const forged = (header: unknown, payload: unknown, key: Uint8Array): string => {
  const content = `${part(header)}.${part(payload)}`
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`
}

describe('a login token', () => {
  test('gives its claims back until its time is over', () => {
    const token = signLogin(claims, KEY)
    expect(looksLikeLogin(token)).toBe(true)
    expect(verifyLogin(token, KEY, NOW)).toEqual(claims)
    expect(verifyLogin(token, KEY, NOW + 59_999)).toEqual(claims)
    expect(verifyLogin(token, KEY, NOW + 60_000)).toBeUndefined()
  })

  test('that was changed, or signed by another key, is not believed', () => {
    const [header, , signature] = signLogin(claims, KEY).split('.')
    expect(verifyLogin(`${header}.${part({ ...claims, sub: '1' })}.${signature}`, KEY, NOW)).toBeUndefined()
    expect(verifyLogin(signLogin(claims, new Uint8Array(32)), KEY, NOW)).toBeUndefined()
  })

  test.each([{ alg: 'none', typ: 'JWT' }, { alg: 'HS512', typ: 'JWT' }, { alg: 'HS256' }])(
    'of another algorithm is not believed: %j',
    (header) => {
      expect(verifyLogin(forged(header, claims, KEY), KEY, NOW)).toBeUndefined()
      expect(verifyLogin(`${part(header)}.${part(claims)}.`, KEY, NOW)).toBeUndefined()
    },
  )

  test.each(['', '..', 'a.b.c', 'a.b'])('is not %j', (token) => {
    expect(verifyLogin(token, KEY, NOW)).toBeUndefined()
  })
})
