import { quote } from '@scanfarm/runners'
import { runOverSsh, type SshHost } from './run-over-ssh.ts'
import { MARKER_FILE, SETUP_LOG } from './user-data.ts'

export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-yet'; readonly reason: string }
  /** It cannot become ready. */
  | { readonly kind: 'never'; readonly reason: string }

export interface CheckOptions {
  readonly tools: readonly string[]
  /** For the whole check. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** PATH of commands of runs. */
  readonly path: string
  /** Paths on the machine. Missing: those in its user data. */
  readonly markerFile?: string
  readonly setupLog?: string
}

const MOST_REASON = 400

/** Whether a new machine has its host key, has finished its setup and has every tool. */
export async function checkMachine(host: SshHost, options: CheckOptions): Promise<Readiness> {
  const result = await runOverSsh(host, `exec /bin/sh -c ${quote(scriptOf(options))}`, options)
  if (result.kind === 'unreachable') return { kind: 'not-yet', reason: `ssh: ${result.reason}` }
  if (result.code !== 0)
    return { kind: 'not-yet', reason: `the check ended with code ${result.code} on the machine` }
  return readinessOf(result.output)
}

/** Prints the marker, then each missing tool in a line; after a failed setup, its last output. */
function scriptOf({ tools, path, markerFile = MARKER_FILE, setupLog = SETUP_LOG }: CheckOptions): string {
  const marker = quote(markerFile)
  return [
    `PATH=${quote(path)}`,
    `if [ ! -f ${marker} ]; then echo waiting; exit 0; fi`,
    `read -r state <${marker}`,
    'printf "%s\\n" "$state"',
    `case $state in ok*) ;; *) tail -n 3 ${quote(setupLog)} 2>/dev/null; exit 0;; esac`,
    ...tools.map((tool) => `command -v -- ${quote(tool)} >/dev/null || printf '%s\\n' ${quote(tool)}`),
    'exit 0',
  ].join('\n')
}

function readinessOf(output: string): Readiness {
  const [state = '', ...rest] = output.trimEnd().split('\n')
  if (state === 'waiting') return { kind: 'not-yet', reason: 'it is still setting itself up' }
  if (state !== 'ok')
    return {
      kind: 'never',
      reason: `its setup commands ${state.replace('failed', 'failed with code')}: ${rest.join(' ').slice(0, MOST_REASON)}`,
    }
  if (rest.length === 0) return { kind: 'ready' }
  return {
    kind: 'never',
    reason: `it lacks ${rest.join(', ').slice(0, MOST_REASON)}: name an image that has them, or commands in cloud.setup that install them`,
  }
}
