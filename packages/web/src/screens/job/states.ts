import type { JobStrip } from '../../api/jobs.ts'

/** A state of a target: its letter in the strip, and how a cell shows it. */
export interface TargetState {
  readonly letter: string
  readonly name: string
  /** A custom property of styles/tokens.css. */
  readonly color: string
  /** The filter of the list of runs that shows these targets. */
  readonly filter: string
  /** Cells differ by their shape, too, for those who do not see their colours. */
  readonly shape: 'full' | 'small' | 'dot' | 'frame' | 'bar' | 'half' | 'triangle'
}

export const STATES: readonly TargetState[] = [
  { letter: 'c', name: 'completed', color: '--good', filter: 'status=completed', shape: 'small' },
  { letter: 'a', name: 'partial', color: '--warn', filter: 'outcome=partial', shape: 'triangle' },
  { letter: 'n', name: 'nothing done', color: '--bad', filter: 'outcome=nothing_done', shape: 'frame' },
  { letter: 'f', name: 'failed', color: '--bad', filter: 'status=failed', shape: 'full' },
  { letter: 'x', name: 'cancelled', color: '--off', filter: 'status=cancelled', shape: 'bar' },
  { letter: 'r', name: 'running', color: '--busy', filter: 'status=running', shape: 'half' },
  { letter: 'q', name: 'queued', color: '--wait', filter: 'status=queued', shape: 'dot' },
  { letter: 'p', name: 'pending', color: '--wait', filter: 'status=pending', shape: 'dot' },
]
const BY_LETTER = new Map(STATES.map((state) => [state.letter, state]))
const UNKNOWN = STATES.at(-1)

export const stateOf = (letter: string | undefined): TargetState | undefined =>
  BY_LETTER.get(letter ?? '') ?? UNKNOWN

/** One letter for each run: `c3f` is `cccf`. */
export const lettersOf = (states: string): string =>
  states.replaceAll(/([a-z])(\d+)/g, (_, letter: string, count: string) => letter.repeat(Number(count)))

/** The id of the run at a place of the strip. */
export const runAt = (ids: JobStrip['ids'], place: number): number | undefined => {
  let before = 0
  for (const [first = 0, count = 0] of ids) {
    if (place < before + count) return first + place - before
    before += count
  }
  return undefined
}
