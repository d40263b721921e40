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

type PropsOf<E extends 'input' | 'select' | 'textarea'> = Omit<ComponentProps<E>, 'name'>

/** A control with its label, hint and problem. */
const framed =
  <P extends object>(control: (own: P, given: ReturnType<typeof useFrame>['props']) => ReactNode) =>
  ({ label, hint, name, ...own }: FrameProps & P) => {
    const { id, problem, props } = useFrame({ name, label, hint })
    return (
      <Frame id={id} name={name} label={label} hint={hint} problem={problem}>
        {control(own as unknown as P, props)}
      </Frame>
    )
  }

export const Field = framed<PropsOf<'input'>>((own, given) => (
  <input className="input" autoComplete="off" {...own} {...given} />
))

export const TextField = framed<PropsOf<'textarea'>>((own, given) => (
  <textarea className="input" rows={4} spellCheck={false} {...own} {...given} />
))

interface Option {
  readonly value: string
  readonly label: string
}

interface SelectProps extends PropsOf<'select'> {
  /** A text stands for itself. */
  readonly options: readonly (Option | string)[]
  /** The label of the value "", which is the first one. */
  readonly none?: string
}

export const SelectField = framed<SelectProps>(({ options, none, ...own }, given) => (
  <select className="input" {...own} {...given}>
    {none === undefined ? null : <option value="">{none}</option>}
    {options.map((option) => {
      const { value, label } = typeof option === 'string' ? { value: option, label: option } : option
      return (
        <option key={value} value={value}>
          {label}
        </option>
      )
    })}
  </select>
))

interface ComboboxProps extends PropsOf<'input'> {
  readonly suggestions: readonly string[]
}

/** A text with suggestions; other text is allowed. */
export const Combobox = framed<ComboboxProps>(({ suggestions, ...own }, given) => (
  <>
    <input className="input" autoComplete="off" {...own} {...given} list={`${given.id}-list`} />
    <datalist id={`${given.id}-list`}>
      {suggestions.map((value) => (
        <option key={value}>{value}</option>
      ))}
    </datalist>
  </>
))
