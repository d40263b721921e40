import { messageOf } from '../fault.ts'
import { renderCommand } from '../shell/render.ts'
import { NOTHING_AROUND, type Around } from '../shell/safety.ts'
import { evaluateExpr, type Variables } from '../template/evaluate.ts'
import { isTemplate } from '../template/parse.ts'
import { renderPieces, renderText } from '../template/render.ts'
import { authored, Text, type Value } from '../template/value.ts'
import type { Engine } from './engine.ts'

/** A template that cannot be rendered fails its step with this; the cause says where. */
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

/** The value of a template: the variable itself when it is nothing but one, otherwise the text with its origins. */
export const renderValue = (engine: Engine, text: string, variables: Variables): Value => {
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

/** As shell text: whatever is not the author's is escaped for the place where it stands. */
export const renderShell = (
  engine: Engine,
  text: string,
  variables: Variables,
  around: Around = NOTHING_AROUND,
): string => guarded(() => renderCommand(renderPieces(engine.template(text), variables), around))
