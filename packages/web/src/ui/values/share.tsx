interface ShareProps {
  readonly value: number
  readonly of: number
  readonly label: string
  /** Of the bar; default the accent. */
  readonly tone?: 'warn' | 'busy'
}

/** A bar that shows a part of a whole. */
export const Share = ({ value, of, label, tone }: ShareProps) => {
  const whole = Math.max(of, value, Number.MIN_VALUE)
  return (
    <span
      className={`share ${tone === undefined ? '' : `tone-${tone}`}`}
      role="meter"
      aria-valuemin={0}
      aria-valuemax={whole}
      aria-valuenow={value}
      aria-label={label}
      style={{ '--share': `${(value / whole) * 100}%` } as object}
    />
  )
}
