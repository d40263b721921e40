import type { ReactNode } from 'react'

/** Facts by their names. A value of undefined, null or "" is left out. */
export const KeyValues = ({ facts }: { facts: Readonly<Record<string, ReactNode>> }) => (
  <dl className="facts">
    {Object.entries(facts)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt className="caption">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
