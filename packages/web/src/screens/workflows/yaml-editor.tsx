import { useEffect, useRef } from 'react'
import type { Problem } from '../../api/workflows.ts'
import { MARKS } from '../workflow/marks.ts'

const LINE_PX = 19

interface YamlEditorProps {
  readonly text: string
  readonly problems: readonly Problem[]
  /** The line that the user asked for; a new object asks again. */
  readonly place: { readonly line: number } | undefined
  readonly onChange: (text: string) => void
}

const ORDER = ['error', 'warning', 'info'] as const

/** A text area with numbered lines; lines with problems are marked. */
export const YamlEditor = ({ text, problems, place, onChange }: YamlEditorProps) => {
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = area.current
    if (!place || !element) return
    const lines = element.value.split('\n')
    const start = lines.slice(0, place.line - 1).join('\n').length + (place.line > 1 ? 1 : 0)
    element.focus()
    element.setSelectionRange(start, start + (lines[place.line - 1]?.length ?? 0))
    element.scrollTop = Math.max(0, (place.line - 4) * LINE_PX)
  }, [place])
  const worst = new Map<number, (typeof ORDER)[number]>()
  for (const severity of ORDER.toReversed())
    for (const problem of problems) if (problem.severity === severity) worst.set(problem.line, severity)
  return (
    <div className="panel yaml-editor">
      <div ref={gutter} className="yaml-gutter muted" aria-hidden="true">
        {Array.from({ length: text.split('\n').length }, (_, index) => {
          const severity = worst.get(index + 1)
          const [sign, tone] = severity === undefined ? [] : MARKS[severity]
          return (
            <div key={index}>
              {tone === undefined ? (
                index + 1
              ) : (
                <strong className={`tone-${tone}`}>{`${sign} ${index + 1}`}</strong>
              )}
            </div>
          )
        })}
      </div>
      <textarea
        ref={area}
        className="bare"
        aria-label="Workflow in YAML"
        spellCheck={false}
        autoCapitalize="off"
        wrap="off"
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop
        }}
      />
    </div>
  )
}
