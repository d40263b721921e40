import { Type } from 'typebox'
import { unsupportedRoute } from '../http/route.ts'

export const installFromRegistry = unsupportedRoute({
  method: 'post',
  path: '/registry-install',
  tag: 'Farm',
  summary: 'Install programs or workflows (not carried out)',
  role: 'admin',
  description:
    'a server installs nothing on the machines of a farm: put programs into the machine or image of the workers (GET /registry-info lists what they have), and add workflows with POST /workflow-upload',
})

export const clearTable = unsupportedRoute({
  method: 'post',
  path: '/database/tables/{table}/clear',
  tag: 'Farm',
  summary: 'Delete all records of a table (not carried out)',
  role: 'admin',
  params: Type.Object({ table: Type.String() }),
  description:
    'records that refer to each other are not deleted by table: the settings retention.run_days and retention.event_days delete ended runs, with their steps and artifacts, and the event log by age; DELETE /vulnerabilities/{id} deletes one finding',
})

export const agentChat = unsupportedRoute({
  method: 'post',
  path: '/agent/chat/completions',
  tag: 'Models',
  summary: 'Chat with an agent program on the server (not carried out)',
  role: 'operator',
  description:
    'a server starts no agent programs: run a workflow with a step of type agent, or ask the model itself with POST /llm/v1/chat/completions',
})
