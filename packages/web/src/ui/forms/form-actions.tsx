import { Button } from '../button.tsx'
import { ErrorPanel } from '../page.tsx'

interface FormActionsProps {
  /** The call that the form makes. */
  readonly call: { readonly error: unknown; readonly isPending: boolean }
  readonly onBack: () => void
  /** The text of the button that submits. */
  readonly action: string
}

/** The end of a form in a dialog: why the last call failed, and its buttons. */
export const FormActions = ({ call, onBack, action }: FormActionsProps) => (
  <>
    {call.error ? <ErrorPanel error={call.error} /> : null}
    <div className="dialog-actions line">
      <Button onClick={onBack}>Back</Button>
      <Button type="submit" kind="primary" busy={call.isPending}>
        {action}
      </Button>
    </div>
  </>
)
