import { useRefusal, type Role } from '../api/role.ts'
import { Link } from './link.tsx'
import type { ComponentProps, ReactNode } from 'react'
import { Tooltip } from './overlays/tooltip.tsx'

type Kind = 'primary' | 'danger' | 'plain' | 'quiet'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: Kind
  /** The action is under way: the button cannot be pressed again. */
  readonly busy?: boolean
  /** The role that may press it. Others see the reason; the button stays focusable. */
  readonly needs?: Role
  /** Another reason why the user cannot press it. */
  readonly refusal?: string
}

export const Button = ({
  kind = 'plain',
  busy = false,
  needs,
  refusal,
  type = 'button',
  className = '',
  ...rest
}: ButtonProps) => {
  const classes = `button button-${kind} ${className}`
  const reason = useRefusal(needs) ?? refusal
  if (reason !== undefined)
    return (
      <Tooltip text={reason}>
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
export const LinkButton = ({ to, children }: { to: string; children: ReactNode }) => (
  <Link href={to} className="button button-plain">
    {children}
  </Link>
)
