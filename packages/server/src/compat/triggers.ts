import { Type, type Static } from 'typebox'
import type { ServerContext } from '../context.ts'

/** What the answer below `/osm/api` has in addition, as clients of Osmedeus read it. */
export const EstablishedTriggers = Type.Object({
  workflows: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.String(),
      description: Type.String(),
      triggers: Type.Array(Type.String(), { description: 'Names' }),
    }),
    { description: 'Only below /osm/api, like triggers' },
  ),
  triggers: Type.Array(
    Type.Object({
      workflow_name: Type.String(),
      trigger_name: Type.String(),
      topic: Type.String({ description: '"" unless it waits for events' }),
      enabled: Type.Boolean(),
    }),
  ),
})

interface TriggeredWorkflow {
  readonly name: string
  readonly kind: string
  readonly triggers: readonly { readonly name: string; readonly topic?: string; readonly enabled: boolean }[]
}

export const establishedTriggers = async (
  { catalog }: Pick<ServerContext, 'catalog'>,
  workflows: readonly TriggeredWorkflow[],
): Promise<Static<typeof EstablishedTriggers>> => {
  const texts = new Map((await catalog.list()).map(({ name, description }) => [name, description]))
  return {
    workflows: workflows.map(({ name, kind, triggers }) => ({
      name,
      kind,
      description: texts.get(name) ?? '',
      triggers: triggers.map((trigger) => trigger.name),
    })),
    triggers: workflows.flatMap(({ name, triggers }) =>
      triggers.map((trigger) => ({
        workflow_name: name,
        trigger_name: trigger.name,
        topic: trigger.topic ?? '',
        enabled: trigger.enabled,
      })),
    ),
  }
}
