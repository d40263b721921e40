import type { ExecuteInput } from './input.ts'
import type { Folders } from '@scanfarm/functions'

/** A variable from the settings. */
export interface OperatorVariable {
  readonly name: string
  /** Undefined if it is not passed to runs. */
  readonly value: { reveal(): string } | undefined
  readonly plain?: number | boolean
  readonly isSecret: boolean
}

/** Environment, folders, variables and secrets that the operator configures for every run. */
export interface OperatorInput {
  /** Environment of commands on every runner. */
  readonly env: Readonly<Record<string, string>>
  readonly variables: NonNullable<ExecuteInput['variables']>
  readonly secrets: readonly string[]
  /** Folders with tools on this machine. */
  readonly folders: Partial<Folders>
}

export interface OperatorSettings {
  readonly workflows: { readonly variables: readonly OperatorVariable[] }
  readonly runner: { readonly env: readonly OperatorVariable[] }
  readonly folders: Partial<Folders>
}

const known = (variables: readonly OperatorVariable[]) =>
  variables.flatMap(({ name, value, plain, isSecret }) =>
    value === undefined ? [] : [{ name, text: value.reveal(), value: plain ?? value.reveal(), isSecret }],
  )

export const operatorInputOf = ({ workflows, runner, folders }: OperatorSettings): OperatorInput => {
  const [variables, env] = [known(workflows.variables), known(runner.env)]
  return {
    env: Object.fromEntries(env.map(({ name, text }) => [name, text])),
    variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    secrets: [...variables, ...env].filter(({ isSecret }) => isSecret).map(({ text }) => text),
    folders,
  }
}
