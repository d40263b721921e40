import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState, type ComponentProps, type ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Combobox, SelectField } from '../forms/field.tsx'

export interface Filter {
  /** The name in the URL. */
  readonly name: string
  readonly label: string
  /** The values to choose from; without them the filter is a text. */
  readonly options?: ComponentProps<typeof SelectField>['options']
  readonly suggestions?: readonly string[]
  /** Of the choice that sets no filter; default `any`. */
  readonly none?: string
}

/** Of lists whose rows have a priority. */
export const PRIORITY_FILTER: Filter = {
  name: 'priority',
  label: 'Priority',
  options: ['critical', 'high', 'normal', 'low'],
}

type Values<N extends string> = Readonly<Partial<Record<N, string>>>

/** The named parts of the URL's search, and a setter that keeps the other parts. An empty value leaves the URL. */
export const useFilters = <N extends string>(names: readonly N[]) => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const joined = names.join(' ')
  const values = useMemo(
    () =>
      Object.fromEntries(
        joined.split(' ').flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
      ) as Values<N>,
    [search, joined],
  )
  const set = useCallback(
    (changes: Values<N>) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...changes })) as never,
        replace: true,
      }),
    [navigate],
  )
  return [values, set] as const
}

interface TextFilterProps extends Pick<ComponentProps<typeof Combobox>, 'name' | 'label' | 'suggestions'> {
  readonly value: string
  readonly onApply: (value: string) => void
}

/** Keeps the focus when it applies, and follows the URL. */
const TextFilter = ({ value, onApply, ...rest }: TextFilterProps) => {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current) input.current.value = value
  }, [value])
  const apply = () => {
    const text = input.current?.value.trim() ?? ''
    if (text !== value) onApply(text)
  }
  return (
    <Combobox
      {...rest}
      ref={input}
      placeholder="any"
      defaultValue={value}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply()
      }}
    />
  )
}

interface FilterBarProps {
  readonly filters: readonly Filter[]
  /** Names of filters that are elsewhere on the screen, and are cleared together with these. */
  readonly others?: readonly string[]
  /** Shown beside the filters. */
  readonly children?: ReactNode
}

/** More than these are folded on narrow screens. */
const MOST_UNFOLDED = 2

/** Filters bound to the URL. A text applies with Enter or when the input is left. On narrow screens a button unfolds them. */
export const FilterBar = ({ filters, others = [], children }: FilterBarProps) => {
  const names = [...new Set([...filters.map(({ name }) => name), ...others])]
  const [values, set] = useFilters(names)
  const used = names.filter((name) => values[name] !== undefined)
  const [folded, setFolded] = useState(filters.length > MOST_UNFOLDED)
  return (
    <search className={`line filters ${folded ? 'folded' : ''}`}>
      {filters.length > MOST_UNFOLDED ? (
        <Button className="narrow-only" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
          {used.length === 0 ? 'Filters' : `Filters, ${used.length} set`}
        </Button>
      ) : null}
      {filters.map(({ name, label, options, suggestions = [], none = 'any' }) =>
        options ? (
          <SelectField
            key={name}
            name={name}
            label={label}
            value={values[name] ?? ''}
            onChange={(event) => set({ [name]: event.currentTarget.value })}
            none={none}
            options={options.map((value) =>
              typeof value === 'string' ? { value, label: value.replaceAll('_', ' ') } : value,
            )}
          />
        ) : (
          <TextFilter
            key={name}
            name={name}
            label={label}
            value={values[name] ?? ''}
            suggestions={suggestions}
            onApply={(value) => set({ [name]: value })}
          />
        ),
      )}
      {used.length === 0 ? null : (
        <Button kind="quiet" onClick={() => set(Object.fromEntries(used.map((name) => [name, ''])))}>
          Clear filters
        </Button>
      )}
      {children}
    </search>
  )
}
