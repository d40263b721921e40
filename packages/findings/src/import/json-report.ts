import { unreadable, type ReportPart } from './read-body.ts'
import { jsonParts } from './read-json.ts'

type Value = Extract<ReportPart, { kind: 'value' }>

/** Reads the parts of a report, and refuses a file without a part that shows its format. */
export async function* jsonReport(
  body: AsyncIterable<Uint8Array>,
  tool: string,
  isSign: (part: Value) => boolean,
  ...patterns: readonly string[]
): AsyncGenerator<ReportPart> {
  let isReport = false
  for await (const part of jsonParts(body, ...patterns)) {
    if (part.kind === 'value') isReport ||= isSign(part)
    yield part
  }
  if (!isReport) throw unreadable(`it is not JSON of ${tool}`)
}

/** For reports that are a list, or null without results. */
export const isList = ({ at, value }: Value): boolean => at !== '' || Array.isArray(value) || value === null
