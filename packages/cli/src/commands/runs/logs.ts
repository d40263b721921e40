import { isTerminal, type RunDetail, type Step } from '@scanfarm/contracts'
import type { Command } from 'commander'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENT, type Api } from '../../client/api.ts'
import { NO_STEP_WAS_DUE } from '../../client/check-work.ts'
import { clientCommand, connect, type ClientOptions } from '../../client/connect.ts'
import { plain } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import type { Terminal } from '../../terminal.ts'

interface LogsOptions extends ClientOptions {
  readonly follow?: boolean
  readonly step?: string
}

/** Time between two polls for a new step. */
const POLL_MS = 1_000

/** Colours and line breaks; other control characters of a tool could take over the terminal. */
const UNSAFE = /\u001b(?!\[[\d;]{0,32}m)|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g
/** The begin of a colour whose end comes with the next text. */
const CUT_COLOUR = /\u001b(?:\[[\d;]{0,32})?$/

/** Writes output of tools: unchanged to a file or a pipe, without control sequences but colours to a terminal. */
class Printer {
  readonly #out: Terminal['out']
  #kept = ''
  #lineBegun = false

  constructor({ out }: Terminal) {
    this.#out = out
  }

  write(text: string): void {
    if (text === '') return
    if (this.#out.isTTY !== true) this.#pass(text)
    else {
      const whole = this.#kept + text
      const cut = CUT_COLOUR.exec(whole)?.index ?? whole.length
      this.#kept = whole.slice(cut)
      this.#pass(whole.slice(0, cut).replace(UNSAFE, '\ufffd'))
    }
  }

  /** A line of this program between outputs. */
  line(text: string): void {
    this.#kept = ''
    this.#pass(`${this.#lineBegun ? '\n' : ''}${text}\n`)
  }

  #pass(text: string): void {
    if (text === '') return
    this.#out.write(text)
    this.#lineBegun = !text.endsWith('\n')
  }
}

const titleOf = ({ step_name: name, module }: Step): string =>
  plain([module, name].filter((part) => part !== '').join(' / '))

const readRun = async (api: Api, ref: string): Promise<RunDetail> =>
  (await api.call(({ GET }) => GET('/runs/{id}', { params: { path: { id: ref } }, retry: PATIENT }))).data

/** All steps of the latest attempt. */
const readSteps = async (api: Api, ref: string): Promise<readonly Step[]> =>
  (await api.all('/runs/{id}/steps', { params: { path: { id: ref } } })).data

/** Prints the output of a step that exists now. */
const printNow = async (api: Api, ref: string, step: string, printer: Printer): Promise<void> => {
  const init = { params: { path: { id: ref, step_id: step } }, parseAs: 'stream' } as const
  const { body } = (await api.with(({ GET }) => GET('/runs/{id}/steps/{step_id}/log', init))).response
  const decoder = new TextDecoder()
  for await (const chunk of body ?? new ReadableStream<Uint8Array>())
    printer.write(decoder.decode(chunk, { stream: true }))
}

/** Prints the output of a step until its end. Returns whether the run was started again meanwhile. */
const printGrowing = async (api: Api, ref: string, step: string, printer: Printer): Promise<boolean> =>
  await api.with(async ({ followLog }) => {
    let attempt = 0
    let restarted = false
    for await (const part of followLog({ run: ref, step })) {
      if (attempt !== 0 && part.attempt !== attempt) {
        printer.line(`==> attempt ${part.attempt}: the run was started again`)
        restarted = true
      }
      ;({ attempt } = part)
      printer.write(part.text)
    }
    return restarted
  })

/** Prints the log of a run between the outputs of its steps, by the time of its lines. */
class RunLines {
  readonly #api: Api
  readonly #ref: string
  readonly #printer: Printer
  #printed = 0

  constructor(api: Api, ref: string, printer: Printer) {
    this.#api = api
    this.#ref = ref
    this.#printer = printer
  }

  /** The lines that were logged before a time; all if it is missing. */
  async printUntil(time: string | null): Promise<void> {
    const init = { params: { path: { id: this.#ref } }, parseAs: 'stream' } as const
    const { response } = await this.#api.with(({ GET }) => GET('/runs/{id}/log', init))
    const text = await response.text()
    const lines = text.split(/(?<=\n)(?! )/)
    let length = 0
    for (const line of lines) {
      // Each line begins with its time, in the form of the API.
      if (time !== null && line.slice(0, time.length) > time) break
      length += line.length
      if (length > this.#printed) this.#printer.write(line)
    }
    this.#printed = Math.max(this.#printed, length)
  }

  /** The run has been started again. */
  restart(): void {
    this.#printed = 0
  }
}

const printSteps = async (api: Api, ref: string, printer: Printer, follow: boolean): Promise<void> => {
  const lines = new RunLines(api, ref, printer)
  let seen = new Set<string>()
  let attempt = 0
  for (;;) {
    const run = await readRun(api, ref)
    if (attempt !== 0 && run.attempt !== attempt) {
      printer.line(`==> attempt ${run.attempt}: the run was started again`)
      seen = new Set()
      lines.restart()
    }
    ;({ attempt } = run)
    for (const step of await readSteps(api, ref)) {
      if (seen.has(step.id)) continue
      seen.add(step.id)
      await lines.printUntil(step.started_at)
      printer.line(`==> ${titleOf(step)} (${step.step_type})`)
      if (!follow) await printNow(api, ref, step.id, printer)
      else if (await printGrowing(api, ref, step.id, printer)) break
    }
    if (!follow || isTerminal(run.status)) break
    await sleep(POLL_MS)
  }
  await lines.printUntil(null)
}

const printStep = async (
  api: Api,
  ref: string,
  { name, follow }: { readonly name: string; readonly follow: boolean },
  printer: Printer,
): Promise<void> => {
  for (;;) {
    const run = await readRun(api, ref)
    const steps = await readSteps(api, ref)
    const step = steps.find((one) => one.id === name) ?? steps.find((one) => one.step_name === name)
    if (step !== undefined)
      return follow
        ? void (await printGrowing(api, ref, step.id, printer))
        : await printNow(api, ref, step.id, printer)
    if (!follow || isTerminal(run.status)) {
      const known = [...new Set(steps.map((one) => one.step_name))].slice(0, 20).join(', ')
      throw new CliError(
        EXIT.refused,
        `run ${run.id} has no step ${JSON.stringify(name)}: ${known === '' ? 'no step has begun' : `it has ${known}`}`,
      )
    }
    await sleep(POLL_MS)
  }
}

/** The exit codes of `--wait`. */
const checkRun = ({
  id,
  status,
  outcome,
  error_message: error,
  outcome_reasons: reasons,
}: RunDetail): void => {
  if (status === 'failed' || status === 'cancelled')
    throw new CliError(EXIT.failed, plain(`run ${id} ${status}${error === '' ? '' : `: ${error}`}`))
  if (status !== 'completed' || outcome === 'clean') return
  const why = reasons.length > 0 ? reasons.join('; ') : error || NO_STEP_WAS_DUE
  throw new CliError(EXIT.incomplete, plain(`run ${id} completed without doing all of its work: ${why}`))
}

export const logsCommand = (terminal: Terminal): Command =>
  clientCommand(
    'logs',
    'Print the log of a run and the outputs of its steps. Exit codes as with `run --wait`, if the run has ended.',
  )
    .argument('<run>', 'id or uuid of the run')
    .option('-f, --follow', 'print until the run has ended, or the step of --step')
    .option('--step <name-or-id>', 'only the output of this step, without headings')
    .action(async (run: string, { follow = false, step, ...options }: LogsOptions) => {
      const api = connect(terminal, options)
      const printer = new Printer(terminal)
      if (step === undefined) await printSteps(api, run, printer, follow)
      else await printStep(api, run, { name: step, follow }, printer)
      checkRun(await readRun(api, run))
    })
