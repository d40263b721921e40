import type { StartRequest } from '../../api/workflows.ts'
import { linesOf, type CommandLine, type Texts } from '../../ui/index.ts'
import { filledParams } from './param-fields.tsx'

export interface StartValues {
  readonly targets: string
  readonly params: Texts
  /** The other fields of the request as texts; an empty text is not sent. */
  readonly options: Texts
}

/** Lines of targets as the server reads them: blank lines, comments and duplicates are dropped. */
export const targetsOf = (text: string): readonly string[] => [
  ...new Set(linesOf(text).filter((line) => !line.startsWith('#'))),
]

/** Choices of the field `mode`, and what `max_age` and `full_every` are called. */
export const ALL = 'all targets'
export const MODES = [{ value: 'delta', label: 'new and changed' }]
export const MAX_AGE = 'Or not scanned for'
export const FULL_EVERY = 'All targets each time of so many'

const NUMBERS = ['concurrency', 'full_every', 'cloud_instances']
const FLAGS = ['cloud_use_spot', 'cloud_auto_destroy', 'strict']

const valueOf = (name: string, text: string): string | number | boolean =>
  NUMBERS.includes(name) ? Number(text) : FLAGS.includes(name) ? text === 'true' : text

/** Options that belong to another choice are not sent. */
const isMeant = (
  name: string,
  { run_mode: where, runner_type: runner, mode }: StartValues['options'],
): boolean => {
  if (name.startsWith('cloud_')) return where === 'cloud'
  if (name === 'docker_image') return runner === 'docker'
  if (name === 'ssh_host') return runner === 'ssh'
  if (name === 'max_age' || name === 'full_every') return mode === 'delta'
  return true
}

export const requestOf = (
  workflow: { readonly name: string; readonly kind: 'flow' | 'module'; readonly needs_target: boolean },
  { targets, params, options }: StartValues,
  file?: string,
): StartRequest => {
  const listed = targetsOf(targets)
  const filled = filledParams(params)
  const entries = Object.entries(options).filter(
    ([name, text]) => text.trim() !== '' && isMeant(name, options),
  )
  const [first] = listed
  return {
    [workflow.kind]: workflow.name,
    ...(file !== undefined
      ? { target_file: file }
      : listed.length > 1
        ? { targets: [...listed] }
        : first === undefined
          ? workflow.needs_target
            ? { target: 'TARGET' }
            : { empty_target: true }
          : { target: first }),
    ...(Object.keys(filled).length === 0 ? {} : { params: filled }),
    ...Object.fromEntries(entries.map(([name, text]) => [name, valueOf(name, text.trim())])),
  } as StartRequest
}

const FLAG_OF: Readonly<Record<string, string>> = {
  priority: '--priority',
  run_mode: '--mode',
  runner_type: '--runner',
  docker_image: '--image',
  ssh_host: '--ssh-host',
  timeout: '--timeout',
  concurrency: '--concurrency',
  workspace: '--space',
  scope: '--scope',
  max_age: '--max-age',
  full_every: '--full-every',
  cloud_provider: '--cloud-provider',
  cloud_instances: '--instances',
  cloud_instance_type: '--instance-type',
  cloud_region: '--region',
}
const SWITCHES: Readonly<Record<string, string>> = {
  cloud_use_spot: '--spot',
  cloud_auto_destroy: '--auto-destroy',
  empty_target: '--empty-target',
  strict: '--strict',
}

/** More targets are a file in the command line. */
const MAX_WORDS = 5

/** The command lines that send this request. Targets beyond a few are read from `targets.txt`. */
export const commandsOf = (request: StartRequest, fileName = 'targets.txt'): readonly CommandLine[] => {
  const { flow, module, target, targets = [], target_file: file, params = {}, schedule, ...options } = request
  const named = target === undefined ? targets : [target]
  const byFile = file !== undefined || named.length > MAX_WORDS
  const words = [
    'run',
    ...(flow === undefined ? ['-m', module ?? ''] : ['-f', flow]),
    ...(byFile ? ['-T', fileName] : named.flatMap((one) => ['-t', one])),
    ...Object.entries(params).flatMap(([name, value]) => ['-p', `${name}=${value}`]),
    ...Object.entries(options).flatMap(([name, value]) => {
      if (name === 'mode') return value === 'delta' ? ['--delta'] : []
      if (SWITCHES[name] !== undefined) return value === true ? [SWITCHES[name]] : []
      return FLAG_OF[name] === undefined ? [] : [FLAG_OF[name], String(value)]
    }),
  ]
  const shown =
    file === undefined && named.length > MAX_WORDS
      ? { ...request, targets: [...named.slice(0, MAX_WORDS), '…'] }
      : request
  return [
    ...(schedule === undefined ? [{ title: 'Command line', cli: words }] : []),
    {
      title: file === undefined ? 'curl' : 'curl, with the path that POST /upload-file returns',
      api: ['POST', '/runs', shown] as const,
    },
  ]
}
