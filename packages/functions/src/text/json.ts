import { valueOr } from '@scanfarm/contracts'
import type { Json } from '@scanfarm/language'
import { local, NoResult, type FunctionContext, type FunctionGroup } from '../define.ts'
import { MAX_ITEMS, readText } from '../files/file.ts'
import { mustBeFile } from '../files/files.ts'

/** An error that jq reports. */
export class JqError extends Error {}

const isJson = (text: string): boolean => valueOr<unknown>(() => JSON.parse(text), undefined) !== undefined

/** Messages of jq for an invalid filter; all others are failures on the value. */
const NO_FILTER = /syntax error|unterminated/i

const results = async (text: string, filter: string, { jq }: FunctionContext): Promise<Json[]> => {
  if (text === '' || filter === '') throw new NoResult('jq needs JSON and a filter')
  const lines = await jq(text, filter).catch((error: unknown) => {
    throw error instanceof JqError ? new NoResult(error.message, { cause: error }) : error
  })
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Json)
}

/** The first result, "" if there is none, or a text `error: …` if the filter fails on the value. */
const first = async (text: string, filter: string, at: FunctionContext): Promise<Json> => {
  try {
    const [result = ''] = await results(text, filter, at)
    return result
  } catch (error) {
    if (!(error instanceof NoResult) || error.message.startsWith('jq needs') || NO_FILTER.test(error.message))
      throw error
    at.recorder.log('warn', `jq: ${error.message}`)
    return `error: ${error.message.replace(/^jq: error( \(at [^)]*\))?: /, '')}`
  }
}

/** A filter on a file: all errors are returned as text. */
const firstOfFile = async (path: string, filter: string, at: FunctionContext): Promise<Json> => {
  await mustBeFile(path, at)
  const text = await readText(path, at)
  if (text === '' || filter === '') return ''
  try {
    const [result] = await results(text, filter, at)
    return result ?? ''
  } catch (error) {
    if (!(error instanceof NoResult)) throw error
    at.recorder.log('warn', `jq_from_file: ${error.message}`)
    return `error: ${error.message}`
  }
}

const all = async (text: string, filter: string, at: FunctionContext): Promise<Json> => {
  const found = await results(text, filter, at)
  if (found.length > MAX_ITEMS) throw new Error(`more than ${MAX_ITEMS} results`)
  return found
}

export const JSON_FUNCTIONS: FunctionGroup = {
  title: 'JSON',
  functions: [
    local(
      'jq(json, filter): value',
      'The first result of a jq filter; "" if there is none or the filter is invalid, a text `error: …` if it fails on the value. Input that is not JSON is a text.',
      async (at) => {
        const text = at.text(0)
        return await first(text === '' || isJson(text) ? text : JSON.stringify(text), at.text(1), at)
      },
    ),
    local(
      'jq_from_file(path, filter): value',
      'The same for a file of JSON or JSONL; "" also for null, a text `error: …` for anything wrong but a missing file.',
      (at) => firstOfFile(at.path(0), at.text(1), at),
    ),
    local('jq_all(json, filter): list', 'All results of a jq filter.', async (at) =>
      all(at.text(0), at.text(1, '.'), at),
    ),
    local('jq_all_from_file(path, filter): list', 'All results of a jq filter on a file.', async (at) =>
      all(await readText(at.path(0), at), at.text(1, '.'), at),
    ),
  ],
}
