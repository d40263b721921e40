import { SEVERITIES } from '@scanfarm/contracts'
import { dataOf } from '../triggers/trigger-registry.ts'
import { countsIn, objectIn } from './delivery-body.ts'

/**
 * Whether the data of an event tells of a finding that is at least this severe: its own one, or those that are new or
 * back at the end of a job, or open. Data without findings is about something else and passes.
 */
export const isSevereEnough = (data: string, min: string): boolean => {
  const enough = SEVERITIES.slice(0, SEVERITIES.findIndex((each) => each === min) + 1)
  if (enough.length === 0) return true
  const { severity, findings, open } = dataOf(data)
  if (SEVERITIES.some((each) => each === severity)) return enough.some((each) => each === severity)
  const { new: found, back } = objectIn(findings)
  const reported = findings === undefined ? [open] : [found, back]
  if (reported.every((counts) => counts === undefined)) return findings === undefined
  return reported.map(countsIn).some((counts) => enough.some((each) => (counts[each] ?? 0) > 0))
}
