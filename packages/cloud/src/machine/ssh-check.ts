import { quote } from './quote.ts'
import { askOverSsh, type SshPlace } from './ssh-question.ts'
import { MARKER_FILE, SETUP_LOG } from './user-data.ts'

/** `never`: waiting longer would not help. */
export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-yet'; readonly reason: string }
  | { readonly kind: 'never'; readonly reason: string }

export interface CheckOptions {
  readonly tools: readonly string[]
  /** For the whole check. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Where commands of runs look for programs. */
  readonly path: string
  /** Of the machine; missing: as its user data has them. */
  readonly markerFile?: string
  readonly setupLog?: string
}

const MOST_REASON = 400

/** Whether a new machine shows our host key, has done what its user data says and has every tool. */
export async function checkMachine(place: SshPlace, options: CheckOptions): Promise<Readiness> {
  const answer = await askOverSsh(place, `exec /bin/sh -c ${quote(scriptOf(options))}`, options)
  if (answer.kind === 'silent') return { kind: 'not-yet', reason: `ssh: ${answer.reason}` }
  if (answer.code !== 0)
    return { kind: 'not-yet', reason: `the check ended with code ${answer.code} on the machine` }
  return judge(answer.output)
}

/** Prints the marker, then a line for each missing tool; after a failed setup what it printed last. */
function scriptOf({ tools, path, markerFile = MARKER_FILE, setupLog = SETUP_LOG }: CheckOptions): string {
  const marker = quote(markerFile)
  return [
    `PATH=${quote(path)}`,
    `if [ ! -f ${marker} ]; then echo waiting; exit 0; fi`,
    `read -r said <${marker}`,
    'printf "%s\\n" "$said"',
    `case $said in ok*) ;; *) tail -n 3 ${quote(setupLog)} 2>/dev/null; exit 0;; esac`,
    ...tools.map((tool) => `command -v -- ${quote(tool)} >/dev/null || printf '%s\\n' ${quote(tool)}`),
    'exit 0',
  ].join('\n')
}

function judge(output: string): Readiness {
  const [said = '', ...rest] = output.trimEnd().split('\n')
  if (said === 'waiting') return { kind: 'not-yet', reason: 'it is still setting itself up' }
  if (said !== 'ok')
    return {
      kind: 'never',
      reason: `its setup commands ${said.replace('failed', 'failed with code')}: ${rest.join(' ').slice(0, MOST_REASON)}`,
    }
  if (rest.length === 0) return { kind: 'ready' }
  return {
    kind: 'never',
    reason: `it lacks ${rest.join(', ').slice(0, MOST_REASON)}: name an image that has them, or commands in cloud.setup that install them`,
  }
}
