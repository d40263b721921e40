/** Text as it is, scrollable. */
export const Code = ({ children, label }: { children: string; label: string }) => (
  // A scrollable region must be reachable by keyboard.
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <pre className="panel code" tabIndex={0} role="region" aria-label={label}>
    {children}
  </pre>
)

/** JSON, or JSON text, with indentation; other text as it is. */
export const prettyJson = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value, undefined, 2)
  try {
    return JSON.stringify(JSON.parse(value), undefined, 2)
  } catch {
    return value
  }
}

/** A value, or JSON text, with indentation. */
export const JsonView = ({ value, label }: { value: unknown; label: string }) => (
  <Code label={label}>{prettyJson(value)}</Code>
)
