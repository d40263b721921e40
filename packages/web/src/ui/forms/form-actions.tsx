import { Button } from '../button.tsx'
import type { Role } from '../../api/role.ts'
import { ErrorPanel } from '../page.tsx'

interface FormActionsProps {
  /** The call that the dialog makes. */
  readonly call: { readonly error: unknown; readonly isPending: boolean }
  readonly onBack: () => void
  /** The text of the button that makes it, and the role that may. */
  readonly action: string
  readonly needs?: Role
  readonly danger?: boolean
  /** Without it the button submits the form. */
  readonly onAct?: () => void
}

/** The end of a dialog: why the last call failed, and its buttons. */
export const FormActions = ({ call, onBack, action, needs, danger = false, onAct }: FormActionsProps) => (
  <>
    {call.error ? <ErrorPanel error={call.error} /> : null}
    <div className="dialog-actions line">
      <Button onClick={onBack}>Back</Button>
      <Button
        type={onAct ? 'button' : 'submit'}
        kind={danger ? 'danger' : 'primary'}
        needs={needs}
        busy={call.isPending}
        onClick={onAct}
      >
        {action}
      </Button>
    </div>
  </>
)
