import { Dialog as Base } from '@base-ui/react/dialog'
import { useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { ErrorPanel } from './page.tsx'

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
}

export const Dialog = ({ open, onClose, title, children }: DialogProps) => (
  <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
    <Base.Portal>
      <Base.Backdrop className="backdrop" />
      <Base.Popup className="popup dialog">
        <Base.Title className="dialog-title">{title}</Base.Title>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

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
      <Button kind={danger ? 'danger' : 'plain'} disabled={disabled} onClick={() => setOpen(true)}>
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
