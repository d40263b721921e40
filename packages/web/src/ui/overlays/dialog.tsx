import { useId, useLayoutEffect, useRef, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { useAct } from '../../api/act.ts'
import type { Role } from '../../api/role.ts'
import { Button } from '../button.tsx'
import { FormActions } from '../forms/form-actions.tsx'
import { Opener } from './opener.tsx'
import { say, type Said } from './toast.tsx'

interface DialogProps {
  readonly onClose: () => void
  readonly title: string
  readonly wide?: boolean
  /** A click beside the dialog does not close it. */
  readonly keep?: boolean
  readonly children: ReactNode
}

/** Of a dialog that begins with a choice. */
const CHOSEN = '.dialog-body input[type="radio"]:checked'
const FIRST = '.dialog-body :is(input, select, textarea, button, a[href])'

/** A dialog that is open while it is rendered. It has no style of the place that opens it, such as a row of a table. */
export const Dialog = ({ onClose, title, wide = false, keep = false, children }: DialogProps) => {
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
  return createPortal(
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
    </dialog>,
    document.body,
  )
}

export interface ConfirmDialogProps {
  readonly onClose: () => void
  readonly title: string
  /** What happens then. */
  readonly text?: string
  readonly children?: ReactNode
  /** The verb on the button that does it: "Cancel 3 runs". */
  readonly action: string
  readonly danger?: boolean
  /** The dialog closes when it succeeds, and shows the error when it fails. A text or message that it returns is said. */
  readonly onConfirm: () => Promise<Said>
  /** What it changes: queries by the first part of their keys. */
  readonly refresh?: readonly string[]
}

/** Asks before something is done; another control opens it. */
export const ConfirmDialog = ({
  onClose,
  title,
  text,
  children,
  action,
  danger = false,
  onConfirm,
  refresh = [],
}: ConfirmDialogProps) => {
  const act = useAct(onConfirm, {
    refresh,
    done: (said) => {
      say(said)
      onClose()
    },
  })
  return (
    <Dialog onClose={onClose} title={title}>
      {text === undefined ? null : <p>{text}</p>}
      {children}
      <FormActions call={act} onBack={onClose} action={action} danger={danger} onAct={() => act.mutate()} />
    </Dialog>
  )
}

interface ConfirmProps extends Omit<ConfirmDialogProps, 'onClose'> {
  /** The button that opens the dialog. */
  readonly trigger: string
  readonly disabled?: boolean
  /** The role that may do it. */
  readonly needs?: Role
  /** Another reason why the user may not do it. */
  readonly refusal?: string
}

/** What `Confirm` says before a record is deleted: `Delete the token ci?`. */
export const deletion = (kind: string, name: string, verb = 'Delete') => ({
  trigger: verb,
  title: `${verb} the ${kind} ${name}?`,
  action: `${verb} the ${kind}`,
  danger: true,
})

/** A button that asks before it acts. */
export const Confirm = ({ trigger, disabled, needs, refusal, ...rest }: ConfirmProps) => (
  <Opener
    label={trigger}
    kind={rest.danger ? 'danger' : 'plain'}
    disabled={disabled}
    needs={needs}
    refusal={refusal}
  >
    {(close) => <ConfirmDialog {...rest} onClose={close} />}
  </Opener>
)
