import { useEffect, useRef } from 'react'

/** The end of a list that is not a `DataTable`: loads more when it comes into view. */
export const More = ({ onSight }: { onSight: (() => void) | undefined }) => {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (end.current === null || onSight === undefined) return
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onSight()
    })
    seen.observe(end.current)
    return () => seen.disconnect()
  }, [onSight])
  return (
    <div ref={end} className="pad muted" role="status">
      Loading…
    </div>
  )
}
