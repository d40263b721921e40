import { hash, randomBytes } from 'node:crypto'

const FIRST_SLOTS = 1 << 18
const FULLEST = 0.6
const SALT_BYTES = 16

const wordAt = (digest: string, at: number): number =>
  (digest.charCodeAt(at) |
    (digest.charCodeAt(at + 1) << 8) |
    (digest.charCodeAt(at + 2) << 16) |
    (digest.charCodeAt(at + 3) << 24)) >>>
  0

/**
 * A set of strings that stores 64 bits of each: 14 bytes per string. Salted, so that collisions cannot be constructed;
 * the chance that two of ten million strings collide is 1 in 370,000.
 */
export class SeenHashes {
  readonly #salt = randomBytes(SALT_BYTES).toString('hex')
  #high = new Uint32Array(FIRST_SLOTS)
  #low = new Uint32Array(FIRST_SLOTS)
  #size = 0

  /** False if the string was already added. */
  add(text: string): boolean {
    // A string, because creating a buffer would take twice as long as the hash.
    const digest = hash('sha256', this.#salt + text, 'binary')
    // Empty slots have 0 in `low`, which is reserved.
    if (!this.#put(wordAt(digest, 0), wordAt(digest, 4) || 1)) return false
    this.#size += 1
    if (this.#size > this.#low.length * FULLEST) this.#grow()
    return true
  }

  #put(high: number, low: number): boolean {
    const mask = this.#low.length - 1
    let slot = high & mask
    while (this.#low[slot] !== 0) {
      if (this.#low[slot] === low && this.#high[slot] === high) return false
      slot = (slot + 1) & mask
    }
    this.#high[slot] = high
    this.#low[slot] = low
    return true
  }

  #grow(): void {
    const [high, low] = [this.#high, this.#low]
    this.#high = new Uint32Array(high.length * 2)
    this.#low = new Uint32Array(low.length * 2)
    for (const [slot, value] of low.entries()) if (value !== 0) this.#put(high[slot] ?? 0, value)
  }
}
