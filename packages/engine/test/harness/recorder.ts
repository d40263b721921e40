import {
  NO_WORK,
  type ArtifactFound,
  type EventRaised,
  type RunRecorder,
  type RunTally,
  type StepClosed,
  type StepOpened,
} from '@scanfarm/contracts'

export interface RecordedStep extends StepOpened, Partial<Omit<StepClosed, 'key'>> {
  output: string
  counts?: boolean
}

/** A recorder that remembers, and complains when the contract is broken. */
export class MemoryRecorder implements RunRecorder {
  total = 0
  completed = 0
  pid = 0
  counted: RunTally = NO_WORK
  readonly pids: number[] = []
  readonly steps: RecordedStep[] = []
  readonly artifacts: ArtifactFound[] = []
  readonly events: EventRaised[] = []
  readonly lines: string[] = []

  plan(total: number): void {
    this.total = total
  }

  stepOpened(step: StepOpened): void {
    if (this.steps.some(({ key }) => key === step.key)) throw new Error(`step ${step.key} opened twice`)
    this.steps.push({ ...step, output: '' })
  }

  output(key: string, _stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#step(key).output += chunk.toString()
  }

  stepClosed({ key, ...closed }: StepClosed, counts: boolean): void {
    const step = this.#step(key)
    if (step.status !== undefined) throw new Error(`step ${key} closed twice`)
    Object.assign(step, closed, { counts })
    if (counts) this.completed++
  }

  tally(tally: RunTally): void {
    this.counted = tally
  }

  currentPid(pid: number): void {
    this.pid = pid
    this.pids.push(pid)
  }

  artifact(found: ArtifactFound): void {
    this.artifacts.push(found)
  }

  event(event: EventRaised): void {
    this.events.push(event)
  }

  log(level: string, line: string): void {
    this.lines.push(`${level}: ${line}`)
  }

  #step(key: string): RecordedStep {
    const step = this.steps.find((known) => known.key === key)
    if (step === undefined) throw new Error(`step ${key} was never opened`)
    return step
  }

  /** `name status` of every row, in order of opening. */
  get story(): string[] {
    return this.steps.map(({ name, status }) => `${name} ${status ?? 'open'}`)
  }

  byName(name: string): RecordedStep {
    const step = this.steps.find((known) => known.name === name)
    if (step === undefined) throw new Error(`no step ${name} in: ${this.story.join(', ')}`)
    return step
  }
}
