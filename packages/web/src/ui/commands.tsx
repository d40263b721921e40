import { Popover } from '@base-ui/react/popover'
import { toast } from './toast.tsx'

const copy = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied.')
  } catch {
    toast('The browser refused to copy: mark the text and copy it.', 'bad')
  }
}

export const CopyButton = ({ text, label }: { text: string; label: string }) => (
  <button
    type="button"
    className="button button-quiet copy"
    aria-label={`Copy ${label}`}
    onClick={() => void copy(text)}
  >
    ⧉
  </button>
)

export interface CommandLine {
  /** What the line does: "List these runs". */
  readonly title: string
  /** Arguments of the program: `['runs', 'list', '--status', 'failed']`. */
  readonly cli?: readonly string[]
  /** Method and path below the API root: `['GET', '/runs?status=failed']`. */
  readonly api?: readonly [method: string, path: string]
}

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const linesOf = ({ cli, api }: CommandLine): string[] => [
  ...(cli ? [['scanfarm', ...cli].map(quoted).join(' ')] : []),
  ...(api
    ? [
        `curl ${api[0] === 'GET' ? '' : `-X ${api[0]} `}-H "Authorization: Bearer $SCANFARM_TOKEN" ${quoted(`${window.location.origin}/api${api[1]}`)}`,
      ]
    : []),
]

/** The command lines that do or show what is on the screen. */
export const Commands = ({ lines }: { lines: readonly CommandLine[] }) => (
  <Popover.Root>
    <Popover.Trigger className="button button-plain">CLI and curl</Popover.Trigger>
    <Popover.Portal>
      <Popover.Positioner sideOffset={6} align="end" className="layer">
        <Popover.Popup className="popup commands">
          <Popover.Title className="popup-title">The same on the command line</Popover.Title>
          {lines.map((line) => (
            <section key={line.title}>
              <h3>{line.title}</h3>
              {linesOf(line).map((text) => (
                <div key={text} className="command">
                  <code>{text}</code>
                  <CopyButton text={text} label="this line" />
                </div>
              ))}
            </section>
          ))}
        </Popover.Popup>
      </Popover.Positioner>
    </Popover.Portal>
  </Popover.Root>
)
