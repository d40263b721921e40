import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

interface PopoverProps {
  /** The content of the button. */
  readonly trigger: ReactNode
  /** The name of the button, if its content is not enough. */
  readonly triggerLabel?: string
  readonly triggerClass: string
  readonly role: 'dialog' | 'menu'
  readonly label: string
  readonly className?: string
  /** Rendered while it is open. */
  readonly children: ReactNode
  readonly onKeyDown?: (event: KeyboardEvent<HTMLDivElement>) => void
}

const GAP_PX = 6
const EDGE_PX = 8
/** Where there is less room below the button, the popover may open above it. */
const ROOM_PX = 320
const NARROW_PX = 760

/** Below the button or above it, on the side with more room. */
const place = (button: HTMLElement, popup: HTMLElement): void => {
  const { top, bottom, left, right } = button.getBoundingClientRect()
  const { clientWidth: width, clientHeight: height } = document.documentElement
  const below = height - bottom
  const above = below < ROOM_PX && top > below
  const fromLeft = left < width - right
  const narrow = width < NARROW_PX
  Object.assign(popup.style, {
    top: above ? 'auto' : `${bottom + GAP_PX}px`,
    bottom: above ? `${height - top + GAP_PX}px` : 'auto',
    left: fromLeft || narrow ? `${narrow ? EDGE_PX : left}px` : 'auto',
    right: fromLeft && !narrow ? 'auto' : `${narrow ? EDGE_PX : width - right}px`,
    marginLeft: narrow && !fromLeft ? 'auto' : '0',
    maxHeight: `${(above ? top : below) - GAP_PX - EDGE_PX}px`,
  })
}

const FOCUSABLE = 'a[href], button:not(:disabled), input, select, textarea, [tabindex="-1"]'

/** A button with a popover of the browser: Escape and a click elsewhere close it, and the focus returns to the button. */
export const Popover = ({
  trigger,
  triggerLabel,
  triggerClass,
  role,
  label,
  className = '',
  children,
  onKeyDown,
}: PopoverProps) => {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState(false)
  useEffect(() => {
    if (!open) return
    const again = () => {
      if (button.current && popup.current) place(button.current, popup.current)
    }
    const options = { capture: true, passive: true }
    window.addEventListener('resize', again)
    window.addEventListener('scroll', again, options)
    return () => {
      window.removeEventListener('resize', again)
      window.removeEventListener('scroll', again, options)
    }
  }, [open])
  return (
    <span className="popover-anchor">
      <button
        ref={button}
        type="button"
        className={triggerClass}
        popoverTarget={id}
        aria-label={triggerLabel}
        aria-haspopup={role}
        aria-expanded={open}
      >
        {trigger}
      </button>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- its role is given */}
      <div
        ref={popup}
        id={id}
        popover="auto"
        role={role}
        aria-label={label}
        tabIndex={-1}
        className={`popup popover ${className}`}
        onKeyDown={onKeyDown}
        onBeforeToggle={({ newState, currentTarget }) => {
          if (newState !== 'open') return
          setOpen(true)
          // The browser focuses it as it shows it. The event toggle comes later: until then, keys would be lost.
          currentTarget.toggleAttribute('autofocus', true)
          if (button.current) place(button.current, currentTarget)
        }}
        onToggle={({ newState, currentTarget }) => {
          // Its content stays until it is closed: the browser returns a focus that is still inside.
          if (newState === 'closed') setOpen(false)
          else if (
            currentTarget === document.activeElement ||
            !currentTarget.contains(document.activeElement)
          )
            currentTarget.querySelector<HTMLElement>(FOCUSABLE)?.focus()
        }}
      >
        {open ? children : null}
      </div>
    </span>
  )
}
