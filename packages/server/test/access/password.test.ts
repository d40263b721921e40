import { describe, expect, test } from '@jest/globals'
import { hashPassword, verifyPassword } from '../../src/access/password.ts'

describe('a password', () => {
  test('a password hash has its own salt and verifies the password', async () => {
    const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
    expect(one).not.toBe(other)
    expect(one).not.toContain('correct horse')
    expect(await verifyPassword('correct horse', one)).toBe(true)
    expect(await verifyPassword('correct horsf', one)).toBe(false)
  })

  test('a password in another Unicode normalisation form verifies', async () => {
    expect(await verifyPassword('caf\u00e9 caf\u00e9', await hashPassword('cafe\u0301 cafe\u0301'))).toBe(
      true,
    )
  })

  test('a password does not verify against a stored text in another format', async () => {
    expect(await verifyPassword('', '')).toBe(false)
    expect(await verifyPassword('x', 'plain$x')).toBe(false)
  })
})
