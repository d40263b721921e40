import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { looksLikeLogin, signLogin, verifyLogin } from '../../src/access/login-token.ts'

const KEY = new Uint8Array(32).fill(7)
const NOW = 1_800_000_000_000
const at = (ms = 0): Date => new Date(NOW + ms)
const claims = { sub: '5', name: 'ada', mark: 'x', iat: NOW / 1000, exp: NOW / 1000 + 60 }
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const forged = (header: unknown, payload: unknown, key: Uint8Array): string => {
  const content = `${part(header)}.${part(payload)}`
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`
}

describe('a login token', () => {
  test('a login token returns its claims until it expires', async () => {
    const token = await signLogin(claims, KEY)
    expect(looksLikeLogin(token)).toBe(true)
    expect(await verifyLogin(token, KEY, at())).toEqual(claims)
    expect(await verifyLogin(token, KEY, at(59_999))).toEqual(claims)
    expect(await verifyLogin(token, KEY, at(60_000))).toBeUndefined()
  })

  test('a login token has the bytes of an HMAC-SHA256 over header and claims, so that tokens of older masters stay valid', async () => {
    const older = forged({ alg: 'HS256', typ: 'JWT' }, claims, KEY)
    expect(await signLogin(claims, KEY)).toBe(older)
    expect(await verifyLogin(older, KEY, at())).toEqual(claims)
  })

  test('a login token is rejected after a change or with another key', async () => {
    const [header, , signature] = (await signLogin(claims, KEY)).split('.')
    const changed = `${header}.${part({ ...claims, sub: '1' })}.${signature}`
    expect(await verifyLogin(changed, KEY, at())).toBeUndefined()
    expect(await verifyLogin(await signLogin(claims, new Uint8Array(32)), KEY, at())).toBeUndefined()
  })

  test.each([{ alg: 'none', typ: 'JWT' }, { alg: 'HS512', typ: 'JWT' }, { alg: 'HS256' }])(
    'a login token is rejected with the header %j',
    async (header) => {
      expect(await verifyLogin(forged(header, claims, KEY), KEY, at())).toBeUndefined()
      expect(await verifyLogin(`${part(header)}.${part(claims)}.`, KEY, at())).toBeUndefined()
    },
  )

  test.each(['', '..', 'a.b.c', 'a.b'])('the text %j is not a login token', async (token) => {
    expect(await verifyLogin(token, KEY, at())).toBeUndefined()
  })
})
