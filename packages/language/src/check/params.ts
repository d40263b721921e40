import type { Param, Workflow } from '../model.ts'
import { typeOf, valueProblem } from '../params/check-value.ts'
import type { Report } from './report.ts'

const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Keys that only one type reads. */
const OF_TYPE = [
  ['min', 'int'],
  ['max', 'int'],
  ['choices', 'choice'],
  ['multiple', 'choice'],
] as const

const keys = (param: Param, index: number, report: Report): void => {
  for (const [key, type] of OF_TYPE) {
    if (param[key] === undefined || typeOf(param) === type) continue
    const message = `"${key}" is only for params of the type ${type}`
    report(['params', index, key], 'wrong-value', 'warning', message)
  }
  if (typeOf(param) === 'choice' && (param.choices ?? []).length === 0) {
    const message = `param '${param.name}': the type choice needs choices`
    report(['params', index], 'missing-required-field', 'error', message, 'For example: choices: [low, high]')
  }
  if (param.min !== undefined && param.max !== undefined && param.min > param.max) {
    const message = `min ${param.min} is greater than max ${param.max}`
    report(['params', index, 'min'], 'wrong-value', 'error', message)
  }
}

/** Existing workflow files have defaults of any form for these types, and they run. */
const LENIENT = new Set(['string', 'int', 'bool'])

const defaults = (param: Param, index: number, report: Report): void => {
  const { default: value } = param
  const type = typeOf(param)
  if (type === undefined || value === undefined || value === null || value === '') return
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (/\{[{%]/.test(text)) return
  const problem = valueProblem(param, text)
  if (problem === undefined) return
  const severity = LENIENT.has(type) ? 'warning' : 'error'
  report(['params', index, 'default'], 'wrong-value', severity, `default of '${param.name}': ${problem}`)
}

/** Rules about declarations of params. */
export const checkDeclarations = (workflow: Workflow, report: Report): void => {
  for (const [index, param] of (workflow.params ?? []).entries()) {
    keys(param, index, report)
    defaults(param, index, report)
    if (PARAM_NAME.test(param.name)) continue
    const message = `param name '${param.name}' must consist of letters, digits and underscores`
    const hint = 'Templates cannot name it otherwise.'
    report(['params', index, 'name'], 'wrong-value', 'warning', message, hint)
  }
}
