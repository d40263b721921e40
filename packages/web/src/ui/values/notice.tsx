import type { ComponentProps } from 'react'
import type { Tone } from './badge.tsx'

interface NoticeProps extends ComponentProps<'div'> {
  /** Of its edge. */
  readonly tone: Tone | 'accent'
}

/** What the user must see, with an edge in the colour of its tone. */
export const Notice = ({ tone, className = '', ...rest }: NoticeProps) => (
  <div {...rest} className={`notice ${className}`} style={{ borderLeftColor: `var(--${tone})` }} />
)
