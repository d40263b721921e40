import type { ReactNode } from 'react'

const LONG_CHARS = 60

/** Facts by their names. A value of undefined, null or "" is left out, a long text gets more room. */
export const KeyValues = ({ facts }: { facts: Readonly<Record<string, ReactNode>> }) => (
  <dl className="facts">
    {Object.entries(facts)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => (
        <div key={name} className={typeof value === 'string' && value.length > LONG_CHARS ? 'long' : ''}>
          <dt className="caption">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
