import type { ComponentProps, ReactNode } from 'react'
import { useAct } from '../../api/act.ts'
import { Dialog } from '../overlays/dialog.tsx'
import { say, type Said } from '../overlays/toast.tsx'
import { Fields, type FieldRow } from './fields.tsx'
import { Form, type Texts } from './field.tsx'
import { FormActions } from './form-actions.tsx'

interface DialogFormProps {
  readonly onClose: () => void
  readonly fields: readonly FieldRow[]
  /** The first texts of the fields. */
  readonly values?: Texts
  /** Shown below the fields. */
  readonly children?: ReactNode
  /** The text of the button that submits. */
  readonly action: string
  /** The dialog closes when it succeeds, and shows the error when it fails. */
  readonly send: (values: Texts, files: readonly File[]) => Promise<Said>
  /** What it changes: queries by the first part of their keys. */
  readonly refresh: readonly string[]
}

/** The form of a dialog. */
export const DialogForm = ({ onClose, fields, values, children, action, send, refresh }: DialogFormProps) => {
  const call = useAct((given: Parameters<typeof send>) => send(...given), {
    refresh,
    done: (said) => {
      say(said)
      onClose()
    },
  })
  return (
    <Form error={call.error} onSubmit={(...given) => call.mutate(given)}>
      <Fields rows={fields} values={values} />
      {children}
      <FormActions call={call} onBack={onClose} action={action} />
    </Form>
  )
}

/** A dialog that is a form. */
export const FormDialog = ({
  title,
  wide,
  keep,
  ...form
}: DialogFormProps & Pick<ComponentProps<typeof Dialog>, 'title' | 'wide' | 'keep'>) => (
  <Dialog title={title} wide={wide} keep={keep} onClose={form.onClose}>
    <DialogForm {...form} />
  </Dialog>
)
