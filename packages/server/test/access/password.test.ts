import { describe, expect, test } from '@jest/globals'
import { hashPassword, verifyPassword } from '../../src/access/password.ts'

describe('a password', () => {
  test('is stored under a salt of its own and recognised again', async () => {
    const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
    expect(one).not.toBe(other)
    expect(one).not.toContain('correct horse')
    expect(await verifyPassword('correct horse', one)).toBe(true)
    expect(await verifyPassword('correct horsf', one)).toBe(false)
  })

  test('typed in another Unicode form is the same', async () => {
    expect(await verifyPassword('caf\u00e9 caf\u00e9', await hashPassword('cafe\u0301 cafe\u0301'))).toBe(
      true,
    )
  })

  test('never fits a stored text of another form', async () => {
    expect(await verifyPassword('', '')).toBe(false)
    expect(await verifyPassword('x', 'plain$x')).toBe(false)
  })
})
