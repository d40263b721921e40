import { useState, type ReactNode } from 'react'
import { useFilters } from './filters.tsx'

export interface FacetValue {
  readonly value: string
  readonly count?: number
}

interface FacetProps {
  /** The name in the URL. */
  readonly name: string
  readonly label: string
  readonly values: readonly FacetValue[] | undefined
  /** The filter takes one value only. */
  readonly single?: boolean
  /** How to show a value; default as text. */
  readonly show?: (value: string) => ReactNode
}

const FIRST = 7

const withChosen = (values: readonly FacetValue[], chosen: readonly string[]): readonly FacetValue[] => [
  ...values,
  ...chosen.filter((value) => !values.some((other) => other.value === value)).map((value) => ({ value })),
]

/** Values of one filter to choose from, with how many records have each. Several values are joined by commas in the URL. */
export const Facet = ({ name, label, values = [], single = false, show }: FacetProps) => {
  const [filters, set] = useFilters([name])
  const [all, setAll] = useState(false)
  const text = filters[name] ?? ''
  const chosen = text === '' ? [] : single ? [text] : text.split(',')
  // An empty value cannot be a filter.
  const offered = withChosen(
    values.filter(({ value }) => value !== '' && (single || !value.includes(','))),
    chosen,
  )
  if (offered.length === 0) return null
  const toggle = (value: string) => {
    const rest = chosen.filter((other) => other !== value)
    if (rest.length < chosen.length) set({ [name]: rest.join(',') })
    else set({ [name]: single ? value : [...chosen, value].join(',') })
  }
  const shown = all ? offered : offered.filter(({ value }, index) => index < FIRST || chosen.includes(value))
  return (
    <fieldset className="facet">
      <legend>{label}</legend>
      {shown.map(({ value, count }) => (
        <label key={value} title={value}>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          <span className="clip">{show ? show(value) : value}</span>
          <span className="number muted">{count?.toLocaleString()}</span>
        </label>
      ))}
      {offered.length > FIRST ? (
        <button type="button" className="bare link-button" onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `${offered.length - FIRST} more`}
        </button>
      ) : null}
    </fieldset>
  )
}

const isWide = (): boolean => window.matchMedia('(min-width: 1000px)').matches

/** A table with facets beside it; on narrow screens they are folded above it. */
export const FacetedList = ({ facets, children }: { facets: ReactNode; children: ReactNode }) => {
  const [wide] = useState(isWide)
  return (
    <div className="faceted">
      <details className="facets" open={wide}>
        <summary>Filter by value</summary>
        {facets}
      </details>
      <div>{children}</div>
    </div>
  )
}
