type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Without fields that are null or "": forms send all of theirs, also those that were left empty. */
const filled = (fields: Fields, mayBeEmpty: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== null && (value !== '' || mayBeEmpty.has(name)),
    ),
  )

/** Numbers and booleans as the text that they stand for; everything else is left to the schema. */
const textOfScalar = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

const paramsOf = (params: unknown): unknown =>
  isFields(params)
    ? Object.fromEntries(
        Object.entries(params).flatMap(([name, value]) =>
          value === null ? [] : [[name, textOfScalar(value)] as const],
        ),
      )
    : params

/** What both forms have. The dashboard of the established server calls its host runner `local`. */
const common = ({ params, runner_type: runner, ...fields }: Record<string, unknown>) => ({
  ...fields,
  ...(params === undefined ? {} : { params: paramsOf(params) }),
  ...(runner === undefined ? {} : { runner_type: runner === 'local' ? 'host' : runner }),
})

const NO_TARGET = new Set(['target'])
const WAYS = ['target', 'targets', 'target_file', 'empty_target']

const namesTargets = (value: unknown): boolean =>
  value !== undefined && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0)

/**
 * The body of `POST /runs` as the schema has it. A target of "" says that the run has none, unless another field names
 * targets; then it was left empty, as an empty list and an `empty_target` of false were.
 */
export const readRunsForm = (body: unknown): unknown => {
  if (!isFields(body)) return body
  const fields: Fields = common(filled(body, NO_TARGET))
  const naming = WAYS.filter((way) => namesTargets(fields[way]))
  const kept = naming.length > 0 ? naming : WAYS.filter((way) => fields[way] !== undefined).slice(0, 1)
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !WAYS.includes(name) || kept.includes(name)),
  )
}

/** "" says something in these: a schedule that is sent back whole has it where it has nothing. */
const MAY_BE_EMPTY = new Set(['target', 'workspace', 'schedule', 'event_topic', 'watch_path', 'dedupe_key'])

/** Target and params are also read from `input_config`, where the dashboard shows them, if they come nowhere else. */
const withInput = (fields: Record<string, unknown>): Record<string, unknown> => {
  const { input_config: input } = fields
  if (!isFields(input) || fields['target'] !== undefined || fields['params'] !== undefined) return fields
  const { target, ...params } = input
  return {
    ...fields,
    ...(target === undefined || target === null ? {} : { target }),
    params: paramsOf(params),
  }
}

/** The body of `POST /schedules` and `PUT /schedules/{id}` as the schema has it. */
export const readScheduleForm = (body: unknown): unknown => {
  if (!isFields(body)) return body
  const { is_enabled: enabled, ...fields } = withInput(common(filled(body, MAY_BE_EMPTY)))
  return enabled === undefined ? fields : { enabled, ...fields }
}
