import type { Json } from '../model.ts'

const MASK = '***'
/** Lines of a longer secret, such as a key file, that count by themselves. */
const SHORTEST_LINE = 8

/** A secret as it may occur in texts: as it is, in JSON, in a URL, in Base64. Its line break at the end is not part of it. */
const formsOf = (secret: string): string[] => {
  const whole = secret.trim()
  const lines = whole.split(/\r?\n/).map((line) => line.trim())
  const parts = [whole, ...(lines.length === 1 ? [] : lines.filter(({ length }) => length >= SHORTEST_LINE))]
  return parts.flatMap((part) => [
    part,
    JSON.stringify(part).slice(1, -1),
    encodeURIComponent(part.toWellFormed()),
    Buffer.from(part).toString('base64').replace(/=+$/, ''),
  ])
}

/** Hides secrets wherever they would be recorded. */
export class Mask {
  readonly #forms: readonly string[]
  /** The same as bytes, one a character. */
  readonly #bytes: readonly string[]

  constructor(secrets: readonly string[]) {
    const forms = new Set(secrets.filter((secret) => secret.trim() !== '').flatMap(formsOf))
    this.#forms = [...forms].sort((one, other) => other.length - one.length)
    this.#bytes = this.#forms.map((form) => Buffer.from(form).toString('latin1'))
  }

  get isEmpty(): boolean {
    return this.#forms.length === 0
  }

  text(text: string): string {
    let masked = text
    for (const form of this.#forms) masked = masked.replaceAll(form, MASK)
    return masked
  }

  /** All texts in it, names too. */
  value(value: Json): Json {
    if (this.isEmpty) return value
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => this.value(item))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.text(name), this.value(item)]),
    )
  }

  /** For an output that comes in chunks; `keepLength` puts as many stars as the secret has bytes. */
  chunks(keepLength = false): MaskedChunks {
    return new MaskedChunks(this.#bytes, keepLength)
  }

  /** For a whole stream; as long as before, because its length may be written in it. */
  async *stream(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    const chunks = this.chunks(true)
    for await (const chunk of source)
      yield chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    yield chunks.end()
  }
}

/** Keeps back what may be the beginning of a secret until the rest comes. */
export class MaskedChunks {
  readonly #forms: readonly string[]
  readonly #pattern: RegExp
  readonly #keepLength: boolean
  #kept = ''

  /** `forms`: the longest first. */
  constructor(forms: readonly string[], keepLength: boolean) {
    this.#forms = forms
    // An empty alternation would match everywhere.
    this.#pattern = forms.length === 0 ? /(?!)/g : new RegExp(forms.map(RegExp.escape).join('|'), 'g')
    this.#keepLength = keepLength
  }

  push(chunk: Buffer): Buffer {
    return this.#forms.length === 0 ? chunk : this.#take(this.#kept + chunk.toString('latin1'), true)
  }

  /** What was kept back, when nothing more comes. */
  end(): Buffer {
    return this.#take(this.#kept, false)
  }

  #take(text: string, isMore: boolean): Buffer {
    const longest = this.#forms[0]?.length ?? 0
    let [masked, from] = ['', 0]
    const open = () => (isMore ? text.length - this.#beginning(text.slice(from)) : text.length)
    for (const { index, 0: found } of text.matchAll(this.#pattern)) {
      // It may be the beginning of a longer secret.
      if (index + longest > text.length && index >= open()) break
      masked += text.slice(from, index) + (this.#keepLength ? '*'.repeat(found.length) : MASK)
      from = index + found.length
    }
    const end = open()
    this.#kept = text.slice(end)
    return Buffer.from(masked + text.slice(from, end), 'latin1')
  }

  /** Characters at the end that a secret begins with. */
  #beginning(text: string): number {
    let longest = 0
    for (const form of this.#forms)
      for (let length = Math.min(form.length - 1, text.length); length > longest; length--)
        if (text.endsWith(form.slice(0, length))) longest = length
    return longest
  }
}
