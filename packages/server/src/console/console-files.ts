import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { bytes, nothing, type Answer, type Headers } from '../http/answer.ts'
import { namesTag } from '../routes/artifacts/send-artifact.ts'

/** Nothing inline, nothing from elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of everything that belongs to the console, in addition to those of all responses. */
export const CONSOLE_HEADERS: Headers = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=(), serial=(), hid=()',
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** In the order of preference. */
const ENCODINGS = [
  { name: 'br', end: '.br' },
  { name: 'gzip', end: '.gz' },
] as const

const MAX_AGE = 'public, max-age=31536000, immutable'
const TAG_LENGTH = 22

interface ConsoleFile {
  readonly type: string
  readonly tag: string
  readonly path: string
  readonly size: number
  /** Compressed forms that the build wrote. */
  readonly forms: readonly { readonly encoding: string; readonly path: string; readonly size: number }[]
}

/** The files of a built console by path. Requests only name them: no path of a request is opened. */
export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, ConsoleFile>

  private constructor(files: ReadonlyMap<string, ConsoleFile>) {
    this.#files = files
  }

  static async open(folder: string): Promise<ConsoleFiles> {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    const found = entries.filter((entry) => entry.isFile())
    const sizes = new Map(
      found.map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [path, statSync(path).size]
      }),
    )
    const files = new Map<string, ConsoleFile>()
    for (const [path, size] of sizes) {
      const type = TYPES[extname(path)]
      if (type === undefined) continue
      const forms = ENCODINGS.flatMap(({ name, end }) => {
        const compressed = sizes.get(path + end)
        return compressed === undefined ? [] : [{ encoding: name, path: path + end, size: compressed }]
      })
      const hash = createHash('sha256').update(await readFile(path))
      const tag = `"${hash.digest('base64url').slice(0, TAG_LENGTH)}"`
      files.set(path.slice(folder.length).replaceAll(sep, '/'), { type, tag, path, size, forms })
    }
    return new ConsoleFiles(files)
  }

  /** Undefined: there is no such file. */
  answer(path: string, request: Headers): Answer | undefined {
    const file = this.#files.get(path)
    if (file === undefined) return undefined
    const headers = {
      ...CONSOLE_HEADERS,
      'Cache-Control': path.startsWith('/assets/') ? MAX_AGE : 'no-cache',
      // Weak: the same for all compressed forms.
      ETag: `W/${file.tag}`,
      Vary: 'Accept-Encoding',
    }
    if (namesTag(textOf(request['if-none-match']), file.tag)) return nothing(304, headers)
    const accepted = acceptedEncodings(textOf(request['accept-encoding']) ?? '')
    const form = file.forms.find(({ encoding }) => accepted.has(encoding))
    return bytes(200, createReadStream(form?.path ?? file.path), {
      ...headers,
      'Content-Type': file.type,
      'Content-Length': form?.size ?? file.size,
      ...(form === undefined ? {} : { 'Content-Encoding': form.encoding }),
    })
  }
}

const textOf = (value: string | number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

const REFUSED = /;\s*q=0(?:\.0*)?\s*$/i

const acceptedEncodings = (header: string): Set<string> =>
  new Set(
    header
      .split(',')
      .filter((one) => !REFUSED.test(one))
      .map((one) => one.replace(/;.*/, '').trim().toLowerCase()),
  )
