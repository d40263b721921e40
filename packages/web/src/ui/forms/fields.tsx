import { Fragment, isValidElement, type ComponentProps, type ReactElement } from 'react'
import { Combobox, Field, SelectField, TextField, type Texts } from './field.tsx'

/** How a field gets its value: from the caller at each key, or once. */
type Binding =
  | { readonly defaultValue: string | undefined }
  | {
      readonly value: string
      readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void
    }

/** A field by its name, label and kind. */
interface FieldSpec {
  readonly name: string
  readonly show: (binding: Binding) => ReactElement
}

/** What a caller gives besides the name, the label and the choices. */
type PropsOf<C extends typeof Field | typeof TextField | typeof SelectField | typeof Combobox> = Omit<
  ComponentProps<C>,
  'name' | 'label' | 'options' | 'suggestions'
>

export const text = (name: string, label: string, props: PropsOf<typeof Field> = {}): FieldSpec => ({
  name,
  show: (binding) => <Field key={name} {...props} {...binding} name={name} label={label} />,
})

/** A text with several lines. */
export const lines = (name: string, label: string, props: PropsOf<typeof TextField> = {}): FieldSpec => ({
  name,
  show: (binding) => <TextField key={name} {...props} {...binding} name={name} label={label} />,
})

export const choice = (
  name: string,
  label: string,
  options: ComponentProps<typeof SelectField>['options'],
  props: PropsOf<typeof SelectField> = {},
): FieldSpec => ({
  name,
  show: (binding) => <SelectField key={name} {...props} {...binding} {...{ name, label, options }} />,
})

/** A text with suggestions; other text is allowed. */
export const suggest = (
  name: string,
  label: string,
  suggestions: readonly string[],
  props: PropsOf<typeof Combobox> = {},
): FieldSpec => ({
  name,
  show: (binding) => <Combobox key={name} {...props} {...binding} {...{ name, label, suggestions }} />,
})

/** Fields beside each other, or what is shown between such rows. `false` is left out. */
export type FieldRow = readonly (FieldSpec | false)[] | ReactElement | false

/** Fields in the line of a form, before its button. */
export const FieldsInLine = ({ fields, values }: { fields: readonly FieldSpec[]; values: Partial<Texts> }) =>
  fields.map(({ name, show }) => show({ defaultValue: values[name] }))

interface FieldsProps {
  readonly rows: readonly FieldRow[]
  /** The texts of the fields by their names; without `onChange` the first ones. */
  readonly values?: Texts
  readonly onChange?: (values: Texts) => void
}

/** The fields of a form, as a table of rows. */
export const Fields = ({ rows, values = {}, onChange }: FieldsProps) => {
  const bindingOf = (name: string): Binding =>
    onChange
      ? {
          value: values[name] ?? '',
          onChange: ({ currentTarget: { value } }) => onChange({ ...values, [name]: value }),
        }
      : { defaultValue: values[name] }
  return rows.map((row, index) => (
    <Fragment key={index}>
      {row === false || isValidElement(row) ? (
        row
      ) : (
        <div className="grid field-row">{row.map((field) => field && field.show(bindingOf(field.name)))}</div>
      )}
    </Fragment>
  ))
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.join('\n')
  return typeof value === 'string' ? value : (JSON.stringify(value ?? undefined) ?? '')
}

/** The fields of a record as texts: a list has a line for each item. */
export const textsOf = (record: object | undefined): Texts =>
  Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, textOf(value)]))
