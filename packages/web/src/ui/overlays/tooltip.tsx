import { cloneElement, useId, useRef, type ReactElement } from 'react'

const GAP_PX = 4

/** Appears with the pointer and the focus; Escape hides it. `children` is one element that can have the focus. */
export const Tooltip = ({
  text,
  children,
}: {
  text: string
  children: ReactElement<{ 'aria-describedby'?: string }>
}) => {
  const id = useId()
  const anchor = useRef<HTMLSpanElement>(null)
  const tip = useRef<HTMLSpanElement>(null)
  const show = () => {
    if (!anchor.current || !tip.current || tip.current.matches(':popover-open')) return
    tip.current.showPopover()
    const { top, bottom, left } = anchor.current.getBoundingClientRect()
    const { offsetWidth, offsetHeight } = tip.current
    const { clientWidth, clientHeight } = document.documentElement
    const above = bottom + GAP_PX + offsetHeight > clientHeight
    Object.assign(tip.current.style, {
      top: `${above ? top - GAP_PX - offsetHeight : bottom + GAP_PX}px`,
      left: `${Math.max(GAP_PX, Math.min(left, clientWidth - offsetWidth - GAP_PX))}px`,
    })
  }
  const hide = () => tip.current?.hidePopover()
  return (
    // The element inside has the role.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <span
      ref={anchor}
      className="popover-anchor"
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={({ key }) => key === 'Escape' && hide()}
    >
      {cloneElement(children, { 'aria-describedby': id })}
      <span ref={tip} id={id} role="tooltip" popover="manual" className="popup popover tooltip">
        {text}
      </span>
    </span>
  )
}
