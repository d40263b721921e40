import type { ReactNode } from 'react'

/** Facts. A value of undefined, null or "" is left out. */
export const KeyValues = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt className="caption">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
