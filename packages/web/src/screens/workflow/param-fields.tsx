import type { WorkflowPage } from '../../api/workflows.ts'
import { Field, SelectField } from '../../ui/index.ts'

export type Param = WorkflowPage['params'][number]

/** Texts by name of a param; an empty text is not sent. */
export type ParamValues = Readonly<Record<string, string>>

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

const Choices = ({ param, value, onChange }: FieldOfProps) => {
  const chosen = new Set(value.split(',').filter((text) => text !== ''))
  const initial = defaultOf(param)
  return (
    <fieldset className="options line">
      <legend>{labelOf(param)}</legend>
      {(param.choices ?? []).map((choice) => (
        <label key={choice}>
          <input
            type="checkbox"
            checked={chosen.has(choice)}
            onChange={() => onChange([...chosen.symmetricDifference(new Set([choice]))].join(','))}
          />
          {choice}
        </label>
      ))}
      <p className="caption">
        {hintOf(param)} {initial === '' ? '' : `None: ${initial}.`}
      </p>
    </fieldset>
  )
}

const labelOf = ({ name, type, required }: Param): string =>
  `${name}${required ? ' (required)' : ''}, ${type}`

interface FieldOfProps {
  readonly param: Param
  readonly value: string
  readonly onChange: (value: string) => void
}

const ParamField = (props: FieldOfProps) => {
  const { param, value, onChange } = props
  const initial = defaultOf(param)
  const needed = param.required && initial === ''
  const common = {
    name: `params.${param.name}`,
    label: labelOf(param),
    hint: hintOf(param),
    required: needed,
  }
  if (param.type === 'choice' && param.multiple === true) return <Choices {...props} />
  const choices =
    param.type === 'bool' ? ['true', 'false'] : param.type === 'choice' ? param.choices : undefined
  if (choices)
    return (
      <SelectField
        {...common}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        none={initial === '' ? '–' : `default (${initial})`}
        options={choices}
      />
    )
  const number = param.type === 'int' ? { type: 'number', min: param.min, max: param.max, step: 1 } : {}
  return (
    <Field
      {...common}
      {...number}
      value={value}
      placeholder={initial}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface ParamFieldsProps {
  readonly params: readonly Param[]
  readonly values: ParamValues
  readonly onChange: (values: ParamValues) => void
}

/** An input for each param: its type, default and choices are those of the workflow. */
export const ParamFields = ({ params, values, onChange }: ParamFieldsProps) =>
  params.map((param) => (
    <ParamField
      key={param.name}
      param={param}
      value={values[param.name] ?? ''}
      onChange={(value) => onChange({ ...values, [param.name]: value })}
    />
  ))

/** The values that differ from nothing, for a request. */
export const filledParams = (values: ParamValues): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
