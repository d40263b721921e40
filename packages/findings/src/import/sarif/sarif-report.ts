import type { Severity } from '@scanfarm/contracts'
import { asText, at } from '../../fields.ts'
import { Replay } from '../replay.ts'
import { locationText, severityOfResult } from './sarif.ts'
import { readSarif } from './sarif-log.ts'
import { ruleIdOf } from './sarif-run.ts'

export interface SarifRow {
  readonly severity: Severity
  readonly rule: string
  readonly title: string
  readonly location: string
  readonly message: string
}

/** The tool of a SARIF file, or `""`, and its findings in short, also of a file that names no version. */
export const sarifReport = async (
  body: AsyncIterable<Uint8Array>,
): Promise<{ readonly tool: string; readonly rows: readonly SarifRow[] }> => {
  await using replay = new Replay()
  const { runs, results } = await readSarif(replay, body, '')
  const rows: SarifRow[] = []
  for await (const { result, run } of results) {
    const rule = run.ruleOf(result)
    const id = ruleIdOf(result) || asText(at(rule, 'id'))
    const named = asText(at(rule, 'name')) || run.message(at(rule, 'shortDescription'), rule)
    rows.push({
      severity: severityOfResult(run, result, rule),
      rule: id,
      title: named || id,
      location: locationText(run.locationsOf(result)[0]),
      message: run.message(at(result, 'message'), rule),
    })
  }
  return { tool: runs.map(({ run }) => run.tool).find((name) => name !== '') ?? '', rows }
}
