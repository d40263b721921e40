import type { GraphNode } from '../../api/workflows.ts'
import { Button, KeyValues, Notice } from '../../ui/index.ts'

interface NodeFactsProps {
  readonly node: GraphNode
  readonly parts: number
  readonly open: boolean
  readonly onToggle: () => void
  readonly onLine?: (line: number) => void
}

const listed = (texts: readonly string[]) => texts.join(', ')

/** What a part of a workflow does. */
export const NodeFacts = ({ node, parts, open, onToggle, onLine }: NodeFactsProps) => {
  const texts = [
    ['Does', node.does],
    ['On success', node.on_success],
    ['On error', node.on_error],
  ] as const
  return (
    <Notice
      tone="accent"
      className="stack node-facts"
      role="region"
      aria-label={`Part ${node.name}`}
      aria-live="polite"
    >
      <header className="line gap-line">
        <h3>{node.name}</h3>
        <span className="muted">
          {node.type}
          {node.kind === '' || node.kind === node.type ? '' : ` · ${node.kind}`}
        </span>
        {parts > 0 ? (
          <Button kind="quiet" onClick={onToggle}>
            {open ? 'Close' : `Open its ${parts} parts`}
          </Button>
        ) : null}
        {node.line === 0 ? null : onLine ? (
          <Button kind="quiet" onClick={() => onLine(node.line)}>
            Line {node.line}
          </Button>
        ) : (
          <span className="muted">
            {node.file}, line {node.line}
          </span>
        )}
      </header>
      {node.description === '' ? null : <p>{node.description}</p>}
      <KeyValues
        facts={{
          Condition: node.condition === '' ? '' : <code>{node.condition}</code>,
          Runner: [node.runner, node.runner_at].filter((text) => text !== '').join(' '),
          After: listed(node.depends_on),
          Programs: listed(node.tools),
          Sets: listed(node.exports),
          'Time limit': node.timeout,
          Attempts: node.attempts > 1 ? node.attempts : '',
          Parts: node.parallel ? 'at the same time' : '',
        }}
      />
      {texts.map(([title, lines]) =>
        lines.length === 0 ? null : (
          <div key={title}>
            <h4 className="caption">{title}</h4>
            {lines.map((line, index) => (
              <code key={index} className="block-code">
                {line}
              </code>
            ))}
          </div>
        ),
      )}
    </Notice>
  )
}
