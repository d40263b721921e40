import { Type, type Static } from 'typebox'
import { named } from '../objects.ts'

/** Most nodes of a graph: more cannot be drawn. */
export const MAX_GRAPH_NODES = 5_000

const Texts = Type.Array(Type.String())
export const WorkflowGraph = named('WorkflowGraph', {
  nodes: Type.Array(
    Type.Object({
      id: Type.String(),
      parent: Type.String({
        description: 'Id of the node that contains it; empty for the workflow itself',
      }),
      type: Type.Enum(['workflow', 'module', 'step', 'hook', 'end']),
      name: Type.String(),
      kind: Type.String({ description: 'Type of a step, or `flow` or `module`' }),
      description: Type.String(),
      runner: Type.String({ description: '`host`, `docker` or `ssh`; empty: as its parent' }),
      runner_at: Type.String({ description: 'Image or host of the runner, or empty' }),
      condition: Type.String({ description: 'It is left out when this expression is false' }),
      does: Type.Array(Type.String(), {
        description: 'What it does: commands, expressions, the URL of a request, the input of a loop',
      }),
      tools: Type.Array(Type.String(), { description: 'Programs that it declares' }),
      depends_on: Texts,
      parallel: Type.Boolean({ description: 'Its parts run at the same time' }),
      on_success: Texts,
      on_error: Texts,
      timeout: Type.String(),
      attempts: Type.Integer({ description: 'Total attempts, including the first' }),
      exports: Type.Array(Type.String(), { description: 'Variables that it sets' }),
      file: Type.String(),
      line: Type.Integer({ description: 'From 1; 0: unknown' }),
    }),
    { description: `In the order of the source, at most ${MAX_GRAPH_NODES}` },
  ),
  edges: Type.Array(
    Type.Object({
      from: Type.String(),
      to: Type.String(),
      kind: Type.Enum(['next', 'depends', 'goto'], {
        description: '`next`: in order. `depends`: declared. `goto`: a decision continues there',
      }),
      label: Type.String({ description: 'When a decision continues there, or empty' }),
    }),
  ),
  truncated: Type.Boolean({ description: 'There are more nodes' }),
})
export type WorkflowGraph = Static<typeof WorkflowGraph>
export type GraphNode = WorkflowGraph['nodes'][number]
export type GraphEdge = WorkflowGraph['edges'][number]
