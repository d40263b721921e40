import { NO_JSON } from './json-value.ts'
import { unreadable, type ReportPart } from '../read-body.ts'
import { jsonParts } from './read-json.ts'

export type Value = Extract<ReportPart, { kind: 'value' }>

/** A line that a tool has printed beside its report. One that tells of trouble, or is a piece of JSON, is none. */
export const isLogLine = (part: ReportPart): boolean =>
  part.kind === 'problem' &&
  part.reason === NO_JSON &&
  !/^["\]}]|[,[\]{}]$|err(?:or)?\b|(?<!\b(?:0|no) )errors\b|fail|fatal|\bFTL\b|panic|traceback|exception|cannot|can't|could not|unable|denied|refused|timed? ?out|not found|no such|\b(?:killed|terminated|abort|interrupt|segmentation|dumped|memory|stopped|quit|signal)/i.test(
    part.text,
  )

export const notOfFormat = (): Error => unreadable('it lacks the fields of its format')

/** Reads the parts of a report beside which a log may be. */
export async function* jsonBesideLog(
  ...[body, ...patterns]: Parameters<typeof jsonParts>
): AsyncGenerator<ReportPart> {
  for await (const part of jsonParts(body, ...patterns)) if (!isLogLine(part)) yield part
}

/** Reads the parts of a report, and refuses a file without a part that shows its format. */
export async function* jsonReport(
  body: AsyncIterable<Uint8Array>,
  isSign: (part: Value) => boolean,
  ...patterns: readonly string[]
): AsyncGenerator<ReportPart> {
  let isReport = false
  for await (const part of jsonBesideLog(body, ...patterns)) {
    if (part.kind === 'value') isReport ||= isSign(part)
    yield part
  }
  if (!isReport) throw notOfFormat()
}

/** For reports that are a list, or null without results. */
export const isList = ({ at, value }: Value): boolean => at !== '' || Array.isArray(value) || value === null
