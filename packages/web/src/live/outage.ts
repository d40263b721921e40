import { useWatched, Watched } from '../watched.ts'

const REPEAT_MS = 3_000
/** A server that takes longer for its simplest answer does not answer. */
const ANSWER_MS = 10_000

const answers = async (): Promise<boolean> => {
  try {
    return (await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) })).ok
  } catch {
    return false
  }
}

/** Whether the server answers. It is asked again and again from the first sign that it does not, until it does. */
class Outage {
  /** When the answers stopped; undefined: the server answers. */
  readonly since = new Watched<number | undefined>(undefined)
  #checking = false

  /** Something was not answered. */
  suspect(): void {
    if (this.#checking) return
    this.#checking = true
    void this.#check(Date.now())
  }

  async #check(since: number): Promise<void> {
    const isOver = await answers()
    if (!isOver) setTimeout(() => void this.#check(since), REPEAT_MS)
    else this.#checking = false
    this.since.set(isOver ? undefined : since)
  }
}

export const outage = new Outage()

export const useOutage = (): number | undefined => useWatched(outage.since)
