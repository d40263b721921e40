import { memo, useEffect, useRef, useState } from 'react'
import type { Problem } from '../../api/workflows.ts'
import { Button } from '../../ui/index.ts'
import { MARKS } from './marks.ts'
import { wordsOf } from './yaml-words.ts'

/** A longer file is shown in full on request. */
const FIRST_LINES = 3_000

interface LineProps {
  readonly number: number
  readonly text: string
  readonly problem: Problem | undefined
  readonly chosen: boolean
  readonly onChoose: (line: number) => void
}

const CLASSES = {
  '': '',
  key: 'yaml-key',
  comment: 'muted yaml-comment',
  string: 'tone-good',
  value: 'tone-warn',
}

const Marked = ({ problem, number }: Pick<LineProps, 'problem' | 'number'>) => {
  if (!problem) return number
  const [sign, tone] = MARKS[problem.severity]
  return (
    <strong className={`tone-${tone}`} title={problem.message}>
      {sign} {number}
    </strong>
  )
}

const Line = memo(({ number, text, problem, chosen, onChoose }: LineProps) => (
  <div data-line={number} className={`source-line ${chosen ? 'chosen' : ''}`}>
    <button
      type="button"
      className="bare muted"
      tabIndex={-1}
      aria-label={`Line ${number}`}
      onClick={() => onChoose(number)}
    >
      <Marked problem={problem} number={number} />
    </button>
    <code>
      {wordsOf(text).map(({ kind, text: part }, index) => (
        <span key={index} className={CLASSES[kind]}>
          {part}
        </span>
      ))}
    </code>
  </div>
))

interface SourceProps {
  readonly yaml: string
  readonly problems: readonly Problem[]
  /** The line in the URL. */
  readonly line: number
  readonly onLine: (line: number) => void
}

/** A workflow file with numbered lines. */
export const Source = ({ yaml, problems, line, onLine }: SourceProps) => {
  const holder = useRef<HTMLDivElement>(null)
  const [all, setAll] = useState(false)
  const lines = yaml.replace(/\n$/, '').split('\n')
  const shown = all || line > FIRST_LINES ? lines : lines.slice(0, FIRST_LINES)
  useEffect(() => {
    const element = holder.current
    const at = element?.querySelector<HTMLElement>(`[data-line="${line}"]`)
    // `scrollIntoView` would move the page, too.
    if (element && at) element.scrollTop = at.offsetTop - element.offsetTop - element.clientHeight / 2
  }, [line])
  const byLine = new Map(problems.toReversed().map((problem) => [problem.line, problem]))
  return (
    <>
      {/* A scrollable region must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div ref={holder} className="panel source" tabIndex={0} role="region" aria-label="Source">
        {shown.map((text, index) => (
          <Line
            key={index}
            number={index + 1}
            text={text}
            problem={byLine.get(index + 1)}
            chosen={line === index + 1}
            onChoose={onLine}
          />
        ))}
      </div>
      {shown.length < lines.length ? (
        <Button onClick={() => setAll(true)}>Show all {lines.length.toLocaleString()} lines</Button>
      ) : null}
    </>
  )
}
