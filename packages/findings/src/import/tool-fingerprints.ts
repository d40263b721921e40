import { asList, asText, at, isRecord } from '../fields.ts'
import { textWord } from './fingerprints.ts'

/** A hash, a UUID, or several of them; not words like the `requires login` of semgrep, and not names of people. */
const HASH = /^(?=.{16})[0-9a-f]{8,}(?:[-.][0-9a-f]{4,})*(?:[:_]\d+)?$|^(?=.*\d)[A-Za-z0-9+/]{22,}={0,2}$/i
/** A fingerprint that names an advisory and its package; not a column, or a place that ends with its line. */
const NAME = /^(?!.*:\d+$)\S{16,}$/
/** The `fingerprint` of kingfisher is a number that changes with each line above, and is the same in all commits. */
const OF_PLACE = /^\d+$/
/** What belongs to one commit, also if all results of a report have the same. */
const COMMIT = /commit/i
const MAX_LENGTH = 64

type List = 'fingerprints' | 'partialFingerprints'

const hashesIn = (result: unknown, list: List): [string, string][] => {
  const values = at(result, list)
  return (isRecord(values) ? Object.entries(values) : [])
    .map(([key, value]): [string, string] => [key, asText(value)])
    .filter(([key, value]) => key !== 'fingerprint' || !OF_PLACE.test(value))
    .filter(([key, value]) => HASH.test(value) || (/fingerprint/i.test(key) && NAME.test(value)))
}

/** kingfisher has the commit at the place. */
const commitIn = (result: unknown): string[] => {
  const commit = asText(at(asList(at(result, 'locations'))[0], 'properties', 'git_metadata', 'commit', 'id'))
  return HASH.test(commit) ? [commit] : []
}

/** The fingerprints that tools give their results, as far as they differ between results. */
export class ToolFingerprints {
  /** By name: the first value, how many results have one, and whether they differ. */
  readonly #seen = new Map<string, { readonly value: string; count: number; differ: boolean }>()

  /** To be called with each result of a run before `of`. */
  add(result: unknown): void {
    for (const list of ['fingerprints', 'partialFingerprints'] as const)
      for (const [key, value] of hashesIn(result, list)) {
        const seen = this.#seen.get(key) ?? { value, count: 0, differ: false }
        seen.count += 1
        seen.differ ||= seen.value !== value
        this.#seen.set(key, seen)
      }
  }

  /** `whole`: they distinguish the result from all others. `partial`: they contribute to that. `commit`: where it is. */
  of(result: unknown): Readonly<Record<'whole' | 'partial' | 'commit', string[]>> {
    const partial = this.#of(result, 'partialFingerprints')
    return {
      whole: this.#of(result, 'fingerprints').map(([, value]) => value),
      partial: partial.filter(([key]) => !COMMIT.test(key)).map(([, value]) => value),
      commit: [...partial.filter(([key]) => COMMIT.test(key)).map(([, value]) => value), ...commitIn(result)],
    }
  }

  #of(result: unknown, list: List): [key: string, value: string][] {
    return hashesIn(result, list)
      .filter(([key]) => COMMIT.test(key) || this.#isDistinctive(key))
      .map(([key, value]): [string, string] => [key, value.length > MAX_LENGTH ? textWord(value) : value])
      .slice(0, 4)
  }

  #isDistinctive(key: string): boolean {
    const seen = this.#seen.get(key)
    return seen !== undefined && (seen.differ || seen.count === 1)
  }
}
