import { PARAM_LIMITS } from '@scanfarm/contracts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Removes fields that are null or "": forms send all their fields, even those left empty. */
const filled = (fields: Fields, mayBeEmpty: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== null && (value !== '' || mayBeEmpty.has(name)),
    ),
  )

/** Converts numbers and booleans to text; the schema checks everything else. */
const textOfScalar = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/** Drops params that are null. Too many params are not converted, because they are refused. */
const paramsOf = (params: unknown): unknown => {
  if (!isFields(params)) return params
  const names = Object.keys(params).filter((name) => params[name] !== null)
  if (names.length > PARAM_LIMITS.count) return params
  return Object.fromEntries(names.map((name) => [name, textOfScalar(params[name])]))
}

/** Common to both forms. The dashboard of Osmedeus calls its host runner `local`. */
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
 * Converts the body of `POST /runs` to its schema. An empty target means that the run has none, unless another field
 * has targets; then it is ignored, like an empty list or an `empty_target` of false.
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

/** In these fields "" is a value: a schedule that a client reads and sends back contains it. */
const MAY_BE_EMPTY = new Set(['target', 'workspace', 'schedule', 'event_topic', 'watch_path', 'dedupe_key'])

/** Reads target and params from `input_config`, where the dashboard shows them, if they are not sent otherwise. */
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

/** Converts the body of `POST /schedules` and `PUT /schedules/{id}` to its schema. */
export const readScheduleForm = (body: unknown): unknown => {
  if (!isFields(body)) return body
  const { is_enabled: enabled, ...fields } = withInput(common(filled(body, MAY_BE_EMPTY)))
  return enabled === undefined ? fields : { enabled, ...fields }
}
