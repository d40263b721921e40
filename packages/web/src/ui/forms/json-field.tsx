import { TextField } from './field.tsx'

/** The object that the text is, or why it is none. An empty text is an empty object. */
export const jsonObject = (
  text: string,
): { readonly value?: Record<string, unknown>; readonly problem?: string } => {
  if (text.trim() === '') return { value: {} }
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as Record<string, unknown> }
      : { problem: 'This must be a JSON object, for example {"host": "example.com"}.' }
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

interface JsonFieldProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly rows?: number
}

/** A text area for a JSON object, which is checked while it is typed. */
export const JsonField = ({ name, label, value, onChange, rows = 8 }: JsonFieldProps) => {
  const { problem } = jsonObject(value)
  return (
    <div className="json-field stack field">
      <TextField
        name={name}
        label={label}
        rows={rows}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <p className="caption" role="status">
        {problem === undefined ? 'A JSON object.' : <span className="field-problem">{problem}</span>}
      </p>
    </div>
  )
}
