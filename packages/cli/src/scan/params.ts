import { readFile, stat } from 'node:fs/promises'
import { fileErrorText } from '@scanfarm/platform'
import { parseDocument, visit } from 'yaml'
import { CliError, EXIT } from '../exit.ts'
import type { ScanOptions } from './scan-options.ts'

const MAX_BYTES = 1 << 20

const textOf = (file: string, name: string, value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  if (value === null) return ''
  throw new CliError(EXIT.usage, `${file}: the param ${name} must be a text, a number, true or false`)
}

/** The content of a YAML text with its numbers as they are written: `1.10` stays `1.10`. */
const parseAsWritten = (text: string): unknown => {
  const document = parseDocument(text, { prettyErrors: false, merge: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'number') node.value = node.source ?? String(node.value)
    },
  })
  return document.toJS()
}

/** A JSON or YAML file of names and values; JSON is YAML. */
const readParamsFile = async (file: string): Promise<Record<string, string>> => {
  let value: unknown
  try {
    const { size } = await stat(file)
    if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
    value = parseAsWritten(await readFile(file, 'utf8'))
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} cannot be read as JSON or YAML: ${fileErrorText(error)}`)
  }
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new CliError(EXIT.usage, `${file} must hold params as name: value`)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, textOf(file, name, one)]),
  )
}

/** The params of the runs. Single params override those of the file; dedicated options override both. */
export const readParams = async (options: ScanOptions): Promise<Record<string, string>> => {
  const { paramsFile, param = {}, exclude, fuzzyExclude, tactic, threadsHold, heuristicsCheck } = options
  const dedicated = {
    exclude_modules: exclude?.join(','),
    fuzzy_exclude_modules: fuzzyExclude?.join(','),
    tactic,
    threads_hold: threadsHold?.toString(),
    heuristics_check: heuristicsCheck,
  }
  return {
    ...(paramsFile === undefined ? {} : await readParamsFile(paramsFile)),
    ...param,
    ...Object.fromEntries(
      Object.entries(dedicated).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  }
}
