import {
  messageOf,
  renderCommand,
  evaluateExpr,
  type Variables,
  isTemplate,
  renderPieces,
  renderText,
  authored,
  Text,
  type Value,
} from '@scanfarm/language'
import type { Engine } from '../engine.ts'

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
export const renderValue = (engine: Pick<Engine, 'template'>, text: string, variables: Variables): Value => {
  if (!isTemplate(text)) return authored(text)
  return guarded(() => {
    const template = engine.template(text)
    const [only, ...more] = template.nodes.filter((node) => node.kind !== 'text' || node.text.trim() !== '')
    if (only?.kind === 'hole' && more.length === 0) return evaluateExpr(only.expr, variables)
    return new Text(renderPieces(template, variables))
  })
}

export const renderPlain = (engine: Engine, text: string, variables: Variables): string => {
  if (!isTemplate(text)) return text
  return guarded(() => renderText(engine.template(text), variables))
}

/** Renders shell text: values that are not from the author are escaped for their quoting context. */
export const renderShell = (engine: Engine, text: string, variables: Variables): string =>
  guarded(() => renderCommand(renderPieces(engine.template(text), variables)))
