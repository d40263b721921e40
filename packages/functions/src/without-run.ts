import type { Json } from '@scanfarm/language'
import { resultOf, type FunctionContext, type FunctionDefinition } from './define.ts'
import { TEXT_FUNCTIONS } from './text/text.ts'

const names = (list: string): string[] => list.split(' ')

/** Functions that depend only on their arguments. */
export const COMPUTING: readonly string[] = [
  ...TEXT_FUNCTIONS.functions.map(({ name }) => name),
  ...names('len is_empty is_not_empty pick_valid uuid random_string base64_encode base64_decode'),
  ...names('is_url is_compress parse_url query_replace path_replace get_parent_url'),
]

/** Functions that only read files. */
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
  /** There is no run log. */
  recorder: { log: () => undefined },
}

/** Calls a function without a run. `known`: the context of the caller; a function that needs more fails. */
export const callWithoutRun = async (
  definition: FunctionDefinition,
  args: readonly Json[],
  known: Partial<FunctionContext>,
): Promise<Json> => {
  const context = new Proxy({ ...AROUND, ...known } as unknown as FunctionContext, {
    get(all, key): unknown {
      if (Object.hasOwn(all, key)) return Reflect.get(all, key)
      throw new Error('this function needs a run')
    },
  })
  return await resultOf(definition, args, context, { signal: known.signal })
}
