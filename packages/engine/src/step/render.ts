import {
  messageOf,
  renderCommand,
  evaluateExpr,
  type Variables,
  isTemplate,
  parseTemplate,
  renderPieces,
  renderText,
  authored,
  Text,
  type Value,
} from '@scanfarm/language'

/** Fails the step whose template cannot be rendered; the cause has the details. */
export class RenderError extends Error {
  override readonly name = 'RenderError'

  constructor(cause: unknown) {
    super(`template rendering failed: ${messageOf(cause)}`, { cause })
  }
}

const guarded = <Result>(render: () => Result): Result => {
  try {
    return render()
  } catch (error) {
    throw new RenderError(error)
  }
}

/** The value of a template: of its single variable, or else text that keeps the origin of each part. */
export const renderValue = (text: string, variables: Variables): Value => {
  if (!isTemplate(text)) return authored(text)
  return guarded(() => {
    const template = parseTemplate(text)
    const [only, ...more] = template.nodes.filter((node) => node.kind !== 'text' || node.text.trim() !== '')
    if (only?.kind === 'hole' && more.length === 0) return evaluateExpr(only.expr, variables)
    return new Text(renderPieces(template, variables))
  })
}

export const renderPlain = (text: string, variables: Variables): string => {
  if (!isTemplate(text)) return text
  return guarded(() => renderText(parseTemplate(text), variables))
}

/** Renders shell text: values that are not from the author are escaped for their quoting context. */
export const renderShell = (text: string, variables: Variables): string =>
  guarded(() => renderCommand(renderPieces(parseTemplate(text), variables)))
