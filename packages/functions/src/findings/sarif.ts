import type { Severity } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import { isObject } from '../define.ts'

const SEVERITY: Readonly<Record<string, Severity>> = {
  error: 'high',
  warning: 'medium',
  note: 'low',
  none: 'info',
}

const listOf = (value: Json | undefined): { [key: string]: Json }[] =>
  Array.isArray(value) ? value.filter(isObject) : []

const at = (value: Json | undefined, ...path: string[]): Json | undefined =>
  path.reduce<Json | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)

const textAt = (value: Json | undefined, ...path: string[]): string => {
  const found = at(value, ...path)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : ''
}

export interface SarifRow extends Record<string, Json> {
  severity: Severity
  rule: string
  title: string
  tool: string
  location: string
  message: string
  description: string
}

/** The tool that wrote a SARIF file. */
export const toolOf = (text: string): string =>
  listOf(at(JSON.parse(text) as Json, 'runs'))
    .map((run) => textAt(run, 'tool', 'driver', 'name'))
    .find((name) => name !== '') ?? 'Unknown'

/** The results of a SARIF file as flat rows. Throws if the text is not JSON. */
export const sarifRows = (text: string): SarifRow[] => {
  if (text.trim() === '') return []
  const report = JSON.parse(text) as Json
  return listOf(at(report, 'runs')).flatMap((run) => {
    const list = listOf(at(run, 'tool', 'driver', 'rules'))
    const rules = new Map(list.map((rule) => [textAt(rule, 'id'), rule]))
    return listOf(at(run, 'results')).map((result): SarifRow => {
      const named = textAt(result, 'ruleId') || textAt(result, 'rule', 'id')
      const index = at(result, 'ruleIndex') ?? at(result, 'rule', 'index')
      const rule = rules.get(named) ?? (typeof index === 'number' ? list[index] : undefined)
      const level = textAt(result, 'level') || textAt(rule, 'defaultConfiguration', 'level') || 'warning'
      const [first] = listOf(at(result, 'locations'))
      const line = textAt(first, 'physicalLocation', 'region', 'startLine')
      const file = textAt(first, 'physicalLocation', 'artifactLocation', 'uri')
      return {
        severity: SEVERITY[level] ?? 'info',
        rule: named || textAt(rule, 'id'),
        title: textAt(rule, 'name') || textAt(rule, 'shortDescription', 'text') || named,
        tool: textAt(run, 'tool', 'driver', 'name'),
        location: line === '' ? file : `${file}:${line}`,
        message: textAt(result, 'message', 'text'),
        description: textAt(rule, 'fullDescription', 'text') || textAt(rule, 'shortDescription', 'text'),
      }
    })
  })
}
