import { useSyncExternalStore } from 'react'

/** A value outside of React that components follow. */
export class Watched<T> {
  #value: T
  readonly #watchers = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  readonly get = (): T => this.#value

  set(value: T): void {
    if (value === this.#value) return
    this.#value = value
    for (const watcher of this.#watchers) watcher()
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }
}

export const useWatched = <T>({ watch, get }: Watched<T>): T => useSyncExternalStore(watch, get)
