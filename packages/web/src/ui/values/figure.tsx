import type { ReactNode } from 'react'
import { Link } from '../link.tsx'

interface FigureProps {
  readonly name: string
  readonly href?: string
  readonly value: ReactNode
  /** A note below the value. */
  readonly children?: ReactNode
}

/** One of the numbers that a screen begins with; they are in a list of the class `figures`. */
export const Figure = ({ name, href, value, children }: FigureProps) => (
  <div className="figure">
    <dt>{href === undefined ? name : <Link href={href}>{name}</Link>}</dt>
    <dd className="figure-value number">{value}</dd>
    <dd className="figure-note small muted">{children}</dd>
  </div>
)
