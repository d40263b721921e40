import type { ExecuteInput } from './execute/input.ts'
import type { Folders } from './execute/surroundings.ts'

/** A variable of the settings. */
export interface GivenVariable {
  readonly name: string
  /** Missing: there is none to pass on. */
  readonly value: { reveal(): string } | undefined
  readonly plain?: number | boolean
  readonly isSecret: boolean
}

/** What the operator gives to every run. */
export interface Given {
  /** Of commands, wherever they run. */
  readonly env: Readonly<Record<string, string>>
  readonly variables: NonNullable<ExecuteInput['variables']>
  readonly secrets: readonly string[]
  /** Folders for tools on this machine. */
  readonly folders: Partial<Folders>
}

export interface GivenSettings {
  readonly workflows: { readonly variables: readonly GivenVariable[] }
  readonly runner: { readonly env: readonly GivenVariable[] }
  readonly folders: Partial<Folders>
}

const known = (variables: readonly GivenVariable[]) =>
  variables.flatMap(({ name, value, plain, isSecret }) =>
    value === undefined ? [] : [{ name, text: value.reveal(), value: plain ?? value.reveal(), isSecret }],
  )

export const givenOf = ({ workflows, runner, folders }: GivenSettings): Given => {
  const [variables, env] = [known(workflows.variables), known(runner.env)]
  return {
    env: Object.fromEntries(env.map(({ name, text }) => [name, text])),
    variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    secrets: [...variables, ...env].filter(({ isSecret }) => isSecret).map(({ text }) => text),
    folders,
  }
}
