import { Link } from './link.tsx'
import type { ComponentProps, ReactNode } from 'react'

type Kind = 'primary' | 'danger' | 'plain' | 'quiet'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: Kind
  /** The action is under way: the button cannot be pressed again. */
  readonly busy?: boolean
}

export const Button = ({
  kind = 'plain',
  busy = false,
  type = 'button',
  className = '',
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    type={type}
    className={`button button-${kind} ${className}`}
    disabled={busy || rest.disabled === true}
    aria-busy={busy}
  />
)

/** A link of the console that looks like a button. */
export const LinkButton = ({
  to,
  kind = 'plain',
  children,
}: {
  to: string
  kind?: Kind
  children: ReactNode
}) => (
  <Link href={to} className={`button button-${kind}`}>
    {children}
  </Link>
)
