import { withoutPassword, type CreateRuns, type FieldError } from '@scanfarm/contracts'
import { parseDuration } from '@scanfarm/language'
import { problemAt, wrongField } from '../http/refusal.ts'
import type { DeltaDraft, JobDraft, Store, TargetDraft, TargetStream } from '@scanfarm/store'

const DEFAULT_MAX_AGE = '7d'

type DeltaBody = Pick<CreateRuns, 'mode' | 'max_age' | 'full_every'>

/** The database calculates with it. */
const MAX_AGE_MS = 3_650 * 86_400_000

const isAge = (text: string): boolean => {
  const ms = parseDuration(text) ?? 0
  return ms > 0 && ms <= MAX_AGE_MS
}

export const deltaProblems = ({
  mode,
  max_age,
  full_every,
  run_mode,
}: DeltaBody & Pick<CreateRuns, 'run_mode'>): FieldError[] => {
  if (mode !== 'delta')
    return [
      ...problemAt('/max_age', max_age !== undefined && 'requires mode delta'),
      ...problemAt('/full_every', full_every !== undefined && 'requires mode delta'),
    ]
  const isWrong = max_age !== undefined && !isAge(max_age)
  return [
    ...problemAt(
      '/mode',
      run_mode === 'cloud' && 'cannot be delta with run_mode cloud, whose machines need runs',
    ),
    ...problemAt('/max_age', isWrong && 'must be a duration up to 3650d, for example 12h or 7d'),
  ]
}

interface Chosen {
  readonly drafts: readonly TargetDraft[]
  readonly delta: DeltaDraft
}

/** The targets that a job of mode delta runs, and those that it leaves out. Undefined: the mode is another. */
export const chooseTargets = async (
  store: Pick<Store, 'delta'>,
  { mode, max_age: maxAge = DEFAULT_MAX_AGE, full_every: fullEvery }: DeltaBody,
  plan: Pick<JobDraft, 'workflowName' | 'workflow' | 'params' | 'scheduleId'>,
  drafts: readonly TargetDraft[] | TargetStream,
): Promise<Chosen | undefined> => {
  if (mode !== 'delta') return undefined
  if ('chunks' in drafts)
    throw wrongField('/mode', 'delta takes at most 100,000 targets of a file: divide it')
  const turn = await store.delta.turn(plan)
  const full = fullEvery !== undefined && turn % fullEvery === 0
  const fields = { max_age: maxAge, full_every: fullEvery ?? null, turn, full }
  if (full) return { drafts, delta: { fields, leftOut: [] } }
  const found = await store.delta.unchanged(plan, drafts, parseDuration(maxAge) ?? 0)
  const unchanged = new Map(found.map((one) => [one.index, one]))
  return {
    drafts: drafts.filter((_, index) => !unchanged.has(index)),
    delta: {
      fields,
      leftOut: drafts.flatMap(({ target }, index) => {
        const known = unchanged.get(index)
        if (known === undefined) return []
        const since = new Date(known.completedAt).toISOString()
        return [
          {
            target: withoutPassword(target),
            reason: `nothing changed since ${since} (run ${known.runUuid})`,
          },
        ]
      }),
    },
  }
}
