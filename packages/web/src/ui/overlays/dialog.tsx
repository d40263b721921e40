import { useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { useRefresh } from '../../api/act.ts'
import { Button } from '../button.tsx'
import { ErrorPanel } from '../page.tsx'
import { toast } from './toast.tsx'

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

/** Of a dialog that begins with a choice. */
const CHOSEN = '.dialog-body input[type="radio"]:checked'
const FIRST = '.dialog-body :is(input, select, textarea, button, a[href])'

const OpenDialog = ({ onClose, title, wide = false, keep = false, children }: Omit<DialogProps, 'open'>) => {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    const chosen = element?.querySelector<HTMLElement>(CHOSEN)
    ;(chosen ?? element?.querySelector<HTMLElement>(FIRST))?.focus()
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
      <div className="dialog-body stack">{children}</div>
    </dialog>
  )
}

interface ConfirmDialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children?: ReactNode
  /** The verb on the button that does it: "Cancel 3 runs". */
  readonly action: string
  readonly danger?: boolean
  /** The dialog closes when it succeeds, and shows the error when it fails. A text or message that it returns is said. */
  readonly onConfirm: () => Promise<string | { readonly message: string } | void>
  /** What it changes: queries by the first part of their keys. */
  readonly refresh?: readonly string[]
}

/** Asks before something is done; another control opens it. */
export const ConfirmDialog = ({
  open,
  onClose,
  title,
  children,
  action,
  danger = false,
  onConfirm,
  refresh = [],
}: ConfirmDialogProps) => {
  const again = useRefresh()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const close = () => {
    setError(undefined)
    onClose()
  }
  const act = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const said = await onConfirm()
      if (said !== undefined) toast(typeof said === 'string' ? said : said.message)
      await again(...refresh)
      close()
    } catch (reason) {
      setError(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog open={open} onClose={close} title={title}>
      {children}
      {error === undefined ? null : <ErrorPanel error={error} />}
      <div className="dialog-actions line">
        <Button onClick={close}>Back</Button>
        <Button kind={danger ? 'danger' : 'primary'} busy={busy} onClick={() => void act()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}

interface ConfirmProps extends Omit<ConfirmDialogProps, 'open' | 'onClose'> {
  /** The button that opens the dialog. */
  readonly trigger: string
  readonly disabled?: boolean
  /** Why the user may not do it. */
  readonly refusal?: string
}

/** A button that asks before it acts. */
export const Confirm = ({ trigger, disabled, refusal, ...rest }: ConfirmProps) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        kind={rest.danger ? 'danger' : 'plain'}
        disabled={disabled}
        refusal={refusal}
        onClick={() => setOpen(true)}
      >
        {trigger}
      </Button>
      <ConfirmDialog {...rest} open={open} onClose={() => setOpen(false)} />
    </>
  )
}
