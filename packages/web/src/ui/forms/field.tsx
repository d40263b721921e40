import { use, useEffect, useId, useRef, useState, type ComponentProps, type ReactNode } from 'react'
import { FormErrors, problemOf } from './form-errors.ts'

/** Texts by the names of their inputs. */
export type Texts = Readonly<Record<string, string>>

interface FormProps {
  readonly onSubmit: (values: Texts, files: readonly File[]) => void
  /** The error of the last call: each field shows what concerns it. */
  readonly error?: unknown
  readonly children: ReactNode
}

const PROBLEM = '.field-problem, [role="alert"]'

/** Calls `onSubmit` with the text of every named input, and with the files of those for files. */
export const Form = ({ onSubmit, error, children }: FormProps) => {
  const [names] = useState(() => new Set<string>())
  const form = useRef<HTMLFormElement>(null)
  // In a long form it may be out of view.
  useEffect(() => {
    const first = error ? form.current?.querySelector(PROBLEM) : undefined
    first?.scrollIntoView({ block: 'center' })
  }, [error])
  return (
    <FormErrors value={{ error, names }}>
      <form
        ref={form}
        className="stack form"
        onSubmit={(event) => {
          event.preventDefault()
          const entries = [...new FormData(event.currentTarget)]
          onSubmit(
            Object.fromEntries(entries.filter(([, value]) => typeof value === 'string')) as Texts,
            entries.map(([, value]) => value).filter((value) => value instanceof File),
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

/** What a control must have so that its label, hint and problem belong to it. */
type Given = Pick<ComponentProps<'input'>, 'id' | 'name' | 'aria-invalid' | 'aria-describedby'>

type PropsOf<E extends 'input' | 'select' | 'textarea'> = Omit<ComponentProps<E>, 'name'>

/** A control with its label, hint and problem. */
const framed = <P extends object>(control: (own: P, given: Given & { id: string }) => ReactNode) =>
  function Framed({ label, hint, name, ...own }: FrameProps & P) {
    const id = useId()
    const { error, names } = use(FormErrors)
    useEffect(() => {
      names.add(name)
      return () => void names.delete(name)
    }, [names, name])
    const problem = problemOf(error, name)
    const notes = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
    const given = {
      id,
      name,
      'aria-invalid': problem !== undefined,
      'aria-describedby': notes.join(' ').trim() || undefined,
    }
    return (
      <div className="stack field">
        <label htmlFor={id} className="caption">
          {label}
        </label>
        {control(own as unknown as P, given)}
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
