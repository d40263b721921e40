import { useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { ErrorPanel } from './page.tsx'

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly wide?: boolean
  /** A click beside the dialog does not close it. */
  readonly keep?: boolean
  readonly children: ReactNode
}

export const Dialog = ({ open, ...rest }: DialogProps) => (open ? <OpenDialog {...rest} /> : null)

const FIRST = '.dialog-body :is(input, select, textarea, button, a[href])'

const OpenDialog = ({ onClose, title, wide = false, keep = false, children }: Omit<DialogProps, 'open'>) => {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    element?.querySelector<HTMLElement>(FIRST)?.focus()
    // Closed before it is removed, so that the focus returns to where it was.
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={`popup dialog ${wide ? 'dialog-wide' : ''}`}
      aria-labelledby={id}
      closedby={keep ? 'closerequest' : 'any'}
      onClose={({ target, currentTarget }) => {
        if (target === currentTarget && !currentTarget.open) onClose()
      }}
    >
      <header className="dialog-head">
        <h2 id={id} className="dialog-title">
          {title}
        </h2>
        <Button kind="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </Button>
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly children?: ReactNode
  /** The verb on the button that does it: "Cancel 3 runs". */
  readonly action: string
  readonly danger?: boolean
  /** The dialog closes when it succeeds, and shows the error when it fails. */
  readonly onConfirm: () => Promise<unknown>
  /** The button that opens the dialog. */
  readonly trigger: string
  readonly disabled?: boolean
  /** Why the user may not do it. */
  readonly refusal?: string
}

/** A button that asks before it acts. */
export const Confirm = ({
  title,
  children,
  action,
  danger = false,
  onConfirm,
  trigger,
  disabled,
  refusal,
}: ConfirmProps) => {
  const [open, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const act = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      setOpen(false)
    } catch (reason) {
      setError(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button
        kind={danger ? 'danger' : 'plain'}
        disabled={disabled}
        refusal={refusal}
        onClick={() => setOpen(true)}
      >
        {trigger}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={title}>
        {children}
        {error === undefined ? null : <ErrorPanel error={error} />}
        <div className="dialog-actions">
          <Button onClick={() => setOpen(false)}>Back</Button>
          <Button kind={danger ? 'danger' : 'primary'} busy={busy} onClick={() => void act()}>
            {action}
          </Button>
        </div>
      </Dialog>
    </>
  )
}
