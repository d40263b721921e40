import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { openLocalRedirect } from '../src/client/local-redirect.ts'

const LINK = 'https://farm.example/login#code=secret-of-the-link'
const run = promisify(execFile)

/** Asks as a browser: status and place of the answer. `wrapper`: words before the program. */
const ask = async (url: string, wrapper: readonly string[] = []): Promise<string> => {
  const words = [...wrapper, 'curl', '-s', '-o', '/dev/null', '-w', '%{http_code} %header{location}', url]
  const { stdout } = await run(words[0] ?? '', words.slice(1))
  return stdout.trim()
}

describe('the local address of a login link', () => {
  test('leads to the link once, and does not contain it', async () => {
    await using redirect = await openLocalRedirect(LINK)
    expect(redirect.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/)
    expect(await ask(new URL('/other', redirect.url).href)).toBe('404')
    expect(await ask(redirect.url)).toBe(`303 ${LINK}`)
    await redirect.used
    expect(await ask(redirect.url)).toBe('404')
  })

  const asRoot = process.getuid?.() === 0 ? test : test.skip
  asRoot('does not lead there for another user', async () => {
    await using redirect = await openLocalRedirect(LINK)
    const other = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    expect(await ask(redirect.url, other)).toBe('404')
    expect(await ask(redirect.url)).toBe(`303 ${LINK}`)
  })
})
