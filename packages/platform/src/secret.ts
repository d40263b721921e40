import { inspect } from 'node:util'

const MASK = '***'

/** A value that never shows itself by accident: printed, logged, serialised or joined into text it is `***`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself; call it only where it is used up (a driver, a header, a signature). */
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
