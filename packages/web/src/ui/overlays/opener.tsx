import { useState, type ComponentProps, type ReactNode } from 'react'
import { Button } from '../button.tsx'

interface OpenerProps extends Omit<ComponentProps<typeof Button>, 'onClick' | 'children'> {
  readonly label: string
  /** The dialog, which calls `close`. */
  readonly children: (close: () => void) => ReactNode
}

/** A button that opens a dialog. */
export const Opener = ({ label, children, ...button }: OpenerProps) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {open ? children(() => setOpen(false)) : null}
    </>
  )
}
