import type { Json } from '../model.ts'
import { answerAfter, type FunctionContext, type FunctionDefinition } from './define.ts'
import { TEXT_FUNCTIONS } from './text.ts'

const names = (list: string): string[] => list.split(' ')

/** Functions that compute only with what they are given. */
export const COMPUTING: readonly string[] = [
  ...TEXT_FUNCTIONS.functions.map(({ name }) => name),
  ...names('len is_empty is_not_empty pick_valid uuid random_string base64_encode base64_decode'),
  ...names('is_url is_compress parse_url query_replace path_replace get_parent_url'),
]

/** Functions that read files which the context allows, and change nothing. */
export const READING: readonly string[] = names(
  'file_exists file_length dir_length file_contains regex_extract read_file read_lines glob grep_string grep_regex ' +
    'get_types is_file is_dir is_git detect_language',
)

const AROUND = {
  ports: {
    now: () => new Date(),
    monotonic: () => performance.now(),
    random: Math.random,
    uuid: () => crypto.randomUUID(),
  },
  /** There is no log of a run. */
  recorder: { log: () => undefined },
}

/**
 * Calls a function where no run is. `known` is what the caller has of a context; a function that asks for anything else
 * is refused.
 */
export const callWithoutRun = async (
  definition: FunctionDefinition,
  args: readonly Json[],
  known: Partial<FunctionContext>,
): Promise<Json> => {
  const all = { ...AROUND, ...known }
  const context = new Proxy({} as FunctionContext, {
    get(_, key): unknown {
      if (Object.hasOwn(all, key)) return Reflect.get(all, key)
      throw new Error('this function needs a run')
    },
  })
  try {
    return await definition.run(args, context)
  } catch (error) {
    const answer = known.signal?.aborted === true ? undefined : answerAfter(error, definition)
    if (answer === undefined) throw error
    return answer
  }
}
