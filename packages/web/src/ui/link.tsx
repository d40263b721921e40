import { useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** Path and search of this console; parts from data must be encoded: `/runs/${encodeURIComponent(id)}`. */
  readonly href: string
}

const opensElsewhere = (event: MouseEvent): boolean =>
  event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey

/** A link within the console: the page changes without being loaded again. */
export const Link = ({ href, onClick, children, ...rest }: LinkProps) => {
  const router = useRouter()
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        onClick?.(event)
        if (event.defaultPrevented || opensElsewhere(event)) return
        event.preventDefault()
        void router.navigate({ href })
      }}
    >
      {children}
    </a>
  )
}
