import type { FieldError } from '@scanfarm/contracts'
import { modulesOf, requirements, type ResolvedWorkflow } from '@scanfarm/workflow'
import { refuse } from '../http/field-refusal.ts'
import type { RunnerChoice } from './runner-choice.ts'

const TOOL = 'tool:'

/** The programs among the words of a requirement class. */
export const toolsAmong = (needs: readonly string[]): string[] =>
  needs.filter((word) => word.startsWith(TOOL)).map((word) => word.slice(TOOL.length))

/** In cloud mode the machine is the runner: workflows that want another one are refused. */
export const machineRunner = (resolved: ResolvedWorkflow): RunnerChoice => {
  const { root } = resolved
  const problems: FieldError[] = modulesOf(resolved).flatMap(({ name, runner = 'host' }) =>
    runner === 'host'
      ? []
      : [
          refusal(
            root.kind,
            `${name} wants the runner ${runner}, and cloud runs execute on the machine itself`,
          ),
        ],
  )
  const steps = requirements(resolved, { runner: 'host' }).includes('docker')
  if (problems.length === 0 && steps)
    problems.push(refusal(root.kind, 'has steps that run in docker, which machines of a cloud do not offer'))
  refuse(problems)
  return { runnerType: 'host', runnerGiven: true, dockerImage: '', dockerNetwork: '', sshHost: '' }
}

const refusal = (kind: string, message: string): FieldError => ({ path: `/${kind}`, message })
