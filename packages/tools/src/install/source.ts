import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../errors.ts'

export interface WebSource {
  /** For messages: without credentials. */
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** Where a release file is taken from. */
export type Source = WebSource | { readonly name: string; readonly file: string }

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i

/** Credentials in a URL become a header: `fetch` refuses such URLs. */
const web = (url: URL): WebSource => {
  const { username, password } = url
  url.username = ''
  url.password = ''
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return {
    name: url.href,
    url,
    headers: username === '' && password === '' ? {} : { authorization: `Basic ${login.toString('base64')}` },
  }
}

/**
 * Where a release file is taken from: its own URL, or a mirror, which is a URL or a folder. Both replace the origin of the URL
 * (`https://github.com`), so a mirror has the paths of the original.
 */
export const sourceOf = (address: string, mirror?: string): Source => {
  const url = new URL(address)
  if (mirror === undefined || mirror === '') return web(url)
  const scheme = SCHEME.exec(mirror)?.[1]?.toLowerCase()
  if (scheme === undefined || scheme === 'file') {
    const folder = scheme === 'file' ? fileURLToPath(mirror) : mirror
    const file = join(folder, decodeURIComponent(url.pathname))
    return { name: file, file }
  }
  const base = URL.parse(mirror)
  if (base === null || (scheme !== 'http' && scheme !== 'https'))
    throw new ToolError('the mirror must be a folder or a URL that begins with http:// or https://')
  base.pathname = base.pathname.replace(/\/+$/, '') + url.pathname
  return web(base)
}
