import type { Json } from '@scanfarm/language'

const MASK = '***'
/** Lines of a multi-line secret, for example a key file, are masked individually from this length on. */
const SHORTEST_LINE = 8

/** The forms in which a secret may occur: as it is, in JSON, in a URL, in Base64. A trailing line break is ignored. */
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

/** Masks secrets in everything that is recorded. */
export class Mask {
  readonly #forms: readonly string[]
  /** The same as bytes, one per character. */
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

  /** Masks all texts in a value, including names. */
  value(value: Json): Json {
    if (this.isEmpty) return value
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => this.value(item))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.text(name), this.value(item)]),
    )
  }

  /** For output in chunks. `keepLength` replaces each byte of a secret by a star. */
  chunks(keepLength = false): MaskedChunks {
    return new MaskedChunks(this.#bytes, keepLength)
  }

  /** Masks a stream without changing its length, because the length may be part of the content. */
  async *stream(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    const chunks = this.chunks(true)
    for await (const chunk of source)
      yield chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    yield chunks.end()
  }
}

/** Holds back a possible beginning of a secret until more bytes arrive. */
export class MaskedChunks {
  readonly #forms: readonly string[]
  readonly #pattern: RegExp
  readonly #keepLength: boolean
  #kept = ''

  /** `forms`: sorted by length, the longest first. */
  constructor(forms: readonly string[], keepLength: boolean) {
    this.#forms = forms
    // An empty alternation would match everywhere.
    this.#pattern = forms.length === 0 ? /(?!)/g : new RegExp(forms.map(RegExp.escape).join('|'), 'g')
    this.#keepLength = keepLength
  }

  push(chunk: Buffer): Buffer {
    return this.#forms.length === 0 ? chunk : this.#take(this.#kept + chunk.toString('latin1'), true)
  }

  /** Returns the bytes that were held back, at the end of the output. */
  end(): Buffer {
    return this.#take(this.#kept, false)
  }

  #take(text: string, isMore: boolean): Buffer {
    const longest = this.#forms[0]?.length ?? 0
    let [masked, from] = ['', 0]
    const open = () => (isMore ? text.length - this.#beginning(text.slice(from)) : text.length)
    for (const { index, 0: found } of text.matchAll(this.#pattern)) {
      // The match may be the beginning of a longer secret.
      if (index + longest > text.length && index >= open()) break
      masked += text.slice(from, index) + (this.#keepLength ? '*'.repeat(found.length) : MASK)
      from = index + found.length
    }
    const end = open()
    this.#kept = text.slice(end)
    return Buffer.from(masked + text.slice(from, end), 'latin1')
  }

  /** Length of the longest suffix of the text that is a prefix of a secret. */
  #beginning(text: string): number {
    let longest = 0
    for (const form of this.#forms)
      for (let length = Math.min(form.length - 1, text.length); length > longest; length--)
        if (text.endsWith(form.slice(0, length))) longest = length
    return longest
  }
}
