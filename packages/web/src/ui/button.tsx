import { Link } from './link.tsx'
import type { ComponentProps, ReactNode } from 'react'
import { Tooltip } from './overlays/tooltip.tsx'

type Kind = 'primary' | 'danger' | 'plain' | 'quiet'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: Kind
  /** The action is under way: the button cannot be pressed again. */
  readonly busy?: boolean
  /** Why the user cannot press it: it stays focusable, and shows the reason. */
  readonly refusal?: string
}

export const Button = ({
  kind = 'plain',
  busy = false,
  refusal,
  type = 'button',
  className = '',
  ...rest
}: ButtonProps) => {
  const classes = `button button-${kind} ${className}`
  if (refusal !== undefined)
    return (
      <Tooltip text={refusal}>
        <button type="button" className={classes} aria-disabled="true">
          {rest.children}
        </button>
      </Tooltip>
    )
  return (
    <button
      {...rest}
      type={type}
      className={classes}
      disabled={busy || rest.disabled === true}
      aria-busy={busy}
    />
  )
}

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
