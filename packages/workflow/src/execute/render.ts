import { messageOf } from '../fault.ts'
import { renderCommand } from '../shell/render.ts'
import { evaluateExpr, renderPieces, type Variables } from '../template/evaluate.ts'
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

const hasHoles = (text: string): boolean => text.includes('{{')

/** The value of a template: the variable itself when it is nothing but one, otherwise the text with its origins. */
export const renderValue = (engine: Engine, text: string, variables: Variables): Value => {
  if (!hasHoles(text)) return authored(text)
  return guarded(() => {
    const template = engine.template(text)
    const [hole] = template.holes
    if (
      hole !== undefined &&
      template.holes.length === 1 &&
      template.texts.every((part) => part.trim() === '')
    ) {
      return evaluateExpr(hole.expr, variables)
    }
    return new Text(renderPieces(template, variables))
  })
}

export const renderPlain = (engine: Engine, text: string, variables: Variables): string => {
  if (!hasHoles(text)) return text
  return guarded(() =>
    renderPieces(engine.template(text), variables)
      .map((piece) => piece.text)
      .join(''),
  )
}

/** As shell text: whatever is not the author's is escaped for the place where it stands. */
export const renderShell = (engine: Engine, text: string, variables: Variables): string => {
  if (!hasHoles(text)) return text
  return guarded(() => renderCommand(renderPieces(engine.template(text), variables)))
}
