import { SEVERITIES } from '@scanfarm/contracts'
import { dataOf } from '../triggers/trigger-registry.ts'
import { countsIn, objectIn } from './delivery-body.ts'

/**
 * Whether the data of an event tells of a finding that is at least this severe: its own one, or those that are new or
 * back at the end of a job. Data without findings is about something else and passes.
 */
export const isSevereEnough = (data: string, min: string): boolean => {
  const enough = SEVERITIES.slice(0, SEVERITIES.findIndex((each) => each === min) + 1)
  if (enough.length === 0) return true
  const { severity, findings } = dataOf(data)
  if (SEVERITIES.some((each) => each === severity)) return enough.some((each) => each === severity)
  if (findings === undefined) return true
  const counts = objectIn(findings)
  return ['new', 'back'].some((kind) => {
    const byLevel = countsIn(counts[kind])
    return enough.some((each) => (byLevel[each] ?? 0) > 0)
  })
}
