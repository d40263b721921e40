import { severityOf } from '../content.ts'
import { asList, asText, at, isRecord, type Unknown } from '../fields.ts'
import { textOf, type Imported, unreadable } from './read-body.ts'
import { parseJson } from './read-json.ts'
import { ERROR, finding } from './records.ts'

/** Reads the results of a SARIF 2.1.0 file. */
export async function* sarifFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  const log = parseJson(await textOf(body))
  const version = asText(at(log, 'version'))
  if (version !== '2.1.0' || !Array.isArray(at(log, 'runs')))
    throw unreadable(
      `it is not SARIF 2.1.0: expected version "2.1.0" and a list of runs, got version ${JSON.stringify(version)}`,
    )
  for (const run of asList(at(log, 'runs'))) {
    const rules = rulesOf(run)
    const tool = asText(at(run, 'tool', 'driver', 'name'))
    for (const result of asList(at(run, 'results'))) {
      if (NO_FINDINGS.has(kindOf(result))) continue
      yield isRecord(result) ? finding(rowOf(result, rules, tool)) : ERROR
    }
  }
}

/** Kinds of results that report no problem. */
const NO_FINDINGS: ReadonlySet<string> = new Set(['pass', 'notApplicable'])
const kindOf = (result: unknown): string => asText(at(result, 'kind')) || 'fail'

interface Rules {
  readonly byId: ReadonlyMap<string, unknown>
  readonly list: readonly unknown[]
}

const rulesOf = (run: unknown): Rules => {
  const list = asList(at(run, 'tool', 'driver', 'rules'))
  return { list, byId: new Map(list.map((rule) => [asText(at(rule, 'id')), rule])) }
}

const rowOf = (result: Unknown, rules: Rules, tool: string): Unknown => {
  const index = at(result, 'ruleIndex') ?? at(result, 'rule', 'index')
  const named = asText(at(result, 'ruleId') ?? at(result, 'rule', 'id'))
  const rule = rules.byId.get(named) ?? (typeof index === 'number' ? rules.list[index] : undefined)
  const id = named || asText(at(rule, 'id'))
  const message = asText(at(result, 'message', 'text'))
  const ofRule = asText(at(rule, 'defaultConfiguration', 'level')) || 'warning'
  // Only results of kind `fail` have a default level.
  const level = asText(at(result, 'level')) || (kindOf(result) === 'fail' ? ofRule : 'none')
  return {
    vuln_info: id,
    // The title is the first line of the message.
    vuln_title: message.split('\n')[0]?.slice(0, 200) || id,
    vuln_desc: asText(at(rule, 'fullDescription', 'text') ?? at(rule, 'shortDescription', 'text')) || message,
    severity: severityOf(level),
    asset_type: 'file',
    asset_value: placeOf(result),
    tags: [...(tool === '' ? [] : [tool]), ...asList(at(rule, 'properties', 'tags'))],
    raw_vuln_json: JSON.stringify(result),
    ...ownFields(result),
  }
}

/** Fields that the SARIF export of Scanfarm adds, so that a round trip loses nothing. */
const ownFields = (result: Unknown): Unknown => {
  const own = at(result, 'properties', 'scanfarm')
  return isRecord(own) ? own : {}
}

const placeOf = (result: Unknown): string => {
  const [place] = asList(at(result, 'locations'))
  const file = asText(at(place, 'physicalLocation', 'artifactLocation', 'uri'))
  const line = asText(at(place, 'physicalLocation', 'region', 'startLine'))
  if (file !== '') return line === '' ? file : `${file}:${line}`
  const [logical] = asList(at(place, 'logicalLocations'))
  return asText(at(logical, 'fullyQualifiedName') ?? at(logical, 'name'))
}
