import type { WorkflowPage } from '../../api/workflows.ts'
import { choice, text, type Texts } from '../../ui/index.ts'

export type Param = WorkflowPage['params'][number]

const defaultOf = ({ default: value }: Param): string =>
  value === null || value === undefined || value === '' ? '' : String(value as string | number | boolean)

const hintOf = (param: Param): string | undefined => {
  const range =
    param.min !== undefined || param.max !== undefined
      ? `From ${param.min ?? 'any'} to ${param.max ?? 'any'}.`
      : ''
  const args = param.type === 'args' ? 'Arguments, with the quotes of a shell.' : ''
  return [param.description, range, args].filter((text) => text !== '').join(' ') || undefined
}

const labelOf = ({ name, type, required }: Param): string =>
  `${name}${required ? ' (required)' : ''}, ${type}`

interface ChoicesProps {
  readonly param: Param
  readonly value: string
  readonly onChange: (value: string) => void
}

const Choices = ({ param, value, onChange }: ChoicesProps) => {
  const chosen = new Set(value.split(',').filter((part) => part !== ''))
  const initial = defaultOf(param)
  return (
    <fieldset className="options line">
      <legend>{labelOf(param)}</legend>
      {(param.choices ?? []).map((each) => (
        <label key={each} className="inline">
          <input
            type="checkbox"
            checked={chosen.has(each)}
            onChange={() => onChange([...chosen.symmetricDifference(new Set([each]))].join(','))}
          />
          {each}
        </label>
      ))}
      <p className="caption">
        {hintOf(param)} {initial === '' ? '' : `None: ${initial}.`}
      </p>
    </fieldset>
  )
}

const fieldOf = (param: Param) => {
  const initial = defaultOf(param)
  const { type, min, max } = param
  const shared = { hint: hintOf(param), required: param.required && initial === '' }
  const choices = type === 'bool' ? ['true', 'false'] : type === 'choice' ? param.choices : undefined
  if (choices)
    return choice(`params.${param.name}`, labelOf(param), choices, {
      ...shared,
      none: initial === '' ? '–' : `default (${initial})`,
    })
  const number = type === 'int' ? { type: 'number', min, max, step: 1 } : {}
  return text(`params.${param.name}`, labelOf(param), { ...shared, ...number, placeholder: initial })
}

interface ParamFieldsProps {
  readonly params: readonly Param[]
  /** By the names of the params; an empty text is not sent. */
  readonly values: Texts
  readonly onChange: (values: Texts) => void
}

/** An input for each param: its type, default and choices are those of the workflow. */
export const ParamFields = ({ params, values, onChange }: ParamFieldsProps) =>
  params.map((param) => {
    const { name, type, multiple } = param
    const value = values[name] ?? ''
    const set = (next: string) => onChange({ ...values, [name]: next })
    if (type === 'choice' && multiple === true)
      return <Choices key={name} param={param} value={value} onChange={set} />
    return fieldOf(param).show({ value, onChange: ({ currentTarget }) => set(currentTarget.value) })
  })

/** The values that differ from nothing, for a request. */
export const filledParams = (values: Texts): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
