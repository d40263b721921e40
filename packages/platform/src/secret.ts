import { inspect } from 'node:util'

const MASK = '***'

/** A value that is `***` when it is printed, logged, serialized or converted to text. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value. Call this only where the value is used: for a driver, a header, a signature. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return MASK
  }

  toJSON(): string {
    return MASK
  }

  [inspect.custom](): string {
    return MASK
  }
}
