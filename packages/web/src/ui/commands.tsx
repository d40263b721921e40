import { useState } from 'react'
import { Popover } from './overlays/popover.tsx'
import { toast } from './overlays/toast.tsx'

const COPIED_MS = 2_000

/** Whether the text is in the clipboard; otherwise the user is told what to do. */
export const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    toast('The browser refused to copy: mark the text and copy it.', 'bad')
    return false
  }
}

export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [copied, setCopied] = useState(false)
  const copyText = async () => {
    if (!(await copy(text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <>
      <button
        type="button"
        className="button button-quiet copy"
        aria-label={`Copy ${label}`}
        onClick={() => void copyText()}
      >
        {copied ? (
          '✓'
        ) : (
          // No font of small systems has a sign for it.
          <svg
            width="14"
            height="14"
            viewBox="0 0 14 14"
            fill="none"
            stroke="currentColor"
            aria-hidden="true"
          >
            <rect x="4.5" y="4.5" width="8" height="8" rx="1" />
            <path d="M9.5 4.5v-3h-8v8h3" />
          </svg>
        )}
      </button>
      <span role="status" className="unseen">
        {copied ? 'Copied' : ''}
      </span>
    </>
  )
}

export interface CommandLine {
  /** What the line does: "List these runs". */
  readonly title: string
  /** Arguments of the program: `['runs', 'list', '--status', 'failed']`. */
  readonly cli?: readonly string[]
  /** Method and path below the API root: `['GET', '/runs?status=failed']`. */
  readonly api?: readonly [method: string, path: string, body?: unknown]
}

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const curlLine = ([method, path, body]: NonNullable<CommandLine['api']>): string =>
  [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    '-H "Authorization: Bearer $SCANFARM_TOKEN"',
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`]),
    quoted(`${window.location.origin}/api${path}`),
  ].join(' ')

const linesOf = ({ cli, api }: CommandLine): string[] => [
  ...(cli ? [['scanfarm', ...cli].map(quoted).join(' ')] : []),
  ...(api ? [curlLine(api)] : []),
]

/** A line with a button that copies it. */
export const CopyLine = ({ text, label = 'this line' }: { text: string; label?: string }) => (
  <div className="command">
    <code>{text}</code>
    <CopyButton text={text} label={label} />
  </div>
)

/** Command lines, each with a button that copies it. */
export const CommandLines = ({ lines }: { lines: readonly CommandLine[] }) =>
  lines.map((line) => (
    <section key={line.title}>
      <h3>{line.title}</h3>
      {linesOf(line).map((text) => (
        <CopyLine key={text} text={text} />
      ))}
    </section>
  ))

/** The command lines that do or show what is on the screen. */
export const Commands = ({ lines }: { lines: readonly CommandLine[] }) => (
  <Popover
    role="dialog"
    label="The same on the command line"
    trigger="CLI and curl"
    triggerClass="button button-plain"
    className="commands"
  >
    <h2 className="popup-title">The same on the command line</h2>
    <CommandLines lines={lines} />
  </Popover>
)
