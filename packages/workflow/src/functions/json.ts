import type { Json } from '../model.ts'
import { fn, textArg, type FunctionContext, type FunctionGroup } from './define.ts'
import { readText } from './file.ts'
import { pathArg } from './files.ts'

/** One result as itself, several as a list, none as "". */
const query = async (text: string, filter: string, context: FunctionContext): Promise<Json> => {
  const results = (await context.jq(text, filter))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Json)
  if (results.length > 1) return results
  return results[0] ?? ''
}

export const JSON_FUNCTIONS: FunctionGroup = {
  title: 'JSON',
  functions: [
    fn(
      'jq(json, filter)',
      'value',
      'The result of a jq filter; several results are a list.',
      async (args, at) => await query(textArg(args, 0), textArg(args, 1, '.'), at),
    ),
    fn(
      'jq_from_file(path, filter)',
      'value',
      'The same for a file.',
      async (args, at) => await query(await readText(pathArg(args, 0, at), at), textArg(args, 1, '.'), at),
    ),
  ],
}
