import { use, useEffect, useId, useState, type ComponentProps, type ReactNode } from 'react'
import { FormErrors, problemOf } from './form-errors.ts'

interface FormProps {
  readonly onSubmit: (values: Readonly<Record<string, string>>) => void
  /** The error of the last call: each field shows what concerns it. */
  readonly error?: unknown
  readonly children: ReactNode
}

/** Calls `onSubmit` with the text of every named input. */
export const Form = ({ onSubmit, error, children }: FormProps) => {
  const [names] = useState(() => new Set<string>())
  return (
    <FormErrors value={{ error, names }}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          const entries = [...new FormData(event.currentTarget)]
          onSubmit(
            Object.fromEntries(
              entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
            ),
          )
        }}
      >
        {children}
      </form>
    </FormErrors>
  )
}

interface FrameProps {
  readonly name: string
  readonly label: string
  readonly hint?: string
}

const useFrame = ({ name, hint }: FrameProps) => {
  const id = useId()
  const { error, names } = use(FormErrors)
  useEffect(() => {
    names.add(name)
    return () => void names.delete(name)
  }, [names, name])
  const problem = problemOf(error, name)
  const about = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
    .join(' ')
    .trim()
  return {
    id,
    problem,
    props: {
      id,
      name,
      'aria-invalid': problem !== undefined,
      'aria-describedby': about === '' ? undefined : about,
    },
  }
}

const Frame = ({
  id,
  label,
  hint,
  problem,
  children,
}: FrameProps & { id: string; problem?: string; children: ReactNode }) => (
  <div className="field">
    <label htmlFor={id} className="caption">
      {label}
    </label>
    {children}
    {hint === undefined ? null : (
      <p id={`${id}-hint`} className="caption">
        {hint}
      </p>
    )}
    {problem === undefined ? null : (
      <p id={`${id}-problem`} className="field-problem">
        {problem}
      </p>
    )}
  </div>
)

export const Field = ({ label, hint, name, ...rest }: FrameProps & Omit<ComponentProps<'input'>, 'name'>) => {
  const { id, problem, props } = useFrame({ name, label, hint })
  return (
    <Frame id={id} name={name} label={label} hint={hint} problem={problem}>
      <input className="input" autoComplete="off" {...rest} {...props} />
    </Frame>
  )
}

export const TextField = ({
  label,
  hint,
  name,
  ...rest
}: FrameProps & Omit<ComponentProps<'textarea'>, 'name'>) => {
  const { id, problem, props } = useFrame({ name, label, hint })
  return (
    <Frame id={id} name={name} label={label} hint={hint} problem={problem}>
      <textarea className="input" rows={4} spellCheck={false} {...rest} {...props} />
    </Frame>
  )
}

interface Option {
  readonly value: string
  readonly label: string
}

interface SelectProps extends FrameProps, Omit<ComponentProps<'select'>, 'name'> {
  /** A text stands for itself. */
  readonly options: readonly (Option | string)[]
  /** The label of the value "", which is the first one. */
  readonly none?: string
}

export const SelectField = ({ label, hint, name, options, none, ...rest }: SelectProps) => {
  const { id, problem, props } = useFrame({ name, label, hint })
  return (
    <Frame id={id} name={name} label={label} hint={hint} problem={problem}>
      <select className="input" {...rest} {...props}>
        {none === undefined ? null : <option value="">{none}</option>}
        {options.map((option) => {
          const { value, label: text } =
            typeof option === 'string' ? { value: option, label: option } : option
          return (
            <option key={value} value={value}>
              {text}
            </option>
          )
        })}
      </select>
    </Frame>
  )
}

interface ComboboxProps extends FrameProps, Omit<ComponentProps<'input'>, 'name'> {
  readonly suggestions: readonly string[]
}

/** A text with suggestions; other text is allowed. */
export const Combobox = ({ label, hint, name, suggestions, ...rest }: ComboboxProps) => {
  const { id, problem, props } = useFrame({ name, label, hint })
  return (
    <Frame id={id} name={name} label={label} hint={hint} problem={problem}>
      <input className="input" autoComplete="off" {...rest} {...props} list={`${id}-list`} />
      <datalist id={`${id}-list`}>
        {suggestions.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </datalist>
    </Frame>
  )
}
