import { HEURISTICS } from '@scanfarm/contracts'
import {
  apart,
  choice,
  expression,
  flag,
  jsonAsWritten,
  jsonMapAsWritten,
  list,
  number,
  object,
  preferably,
  spec,
  template,
  text,
  textMap,
  texts,
  words,
  type Having,
  type ObjectSpec,
} from './field.ts'
import {
  actionSpec,
  decisionSpec,
  hookStepSpec,
  nestedStepSpec,
  runnerConfigSpec,
  RUNNER_TYPES,
  stepSpec,
} from './step-spec.ts'

export const REPORT_TYPES = [
  'text', 'csv', 'json', 'jsonl', 'yaml', 'html', 'markdown', 'md', 'log', 'pdf', 'png', 'zip', 'folder',
] as const // prettier-ignore

export const PARAM_TYPES = ['string', 'int', 'bool', 'choice', 'path', 'args'] as const

/** The status of a run that completes with an outcome other than clean. */
const ON_PARTIAL = ['complete', 'fail'] as const

const paramFields = {
  name: text('Letters, digits and underscores.', true),
  type: preferably(
    PARAM_TYPES,
    'Type of the values. The variable of a `bool` is a real boolean; `args` are arguments of a command; without a type every text is accepted.',
  ),
  min: number('Smallest value of an `int`.'),
  max: number('Largest value of an `int`.'),
  choices: words('Values that a `choice` may have.'),
  multiple: flag('Whether the value of a `choice` may be several of the choices, separated by commas.'),
  default: template(
    jsonAsWritten('Value if the caller gives none; a template over built-in variables and earlier params.'),
  ),
  value: jsonAsWritten('Alias of `default`.'),
  required: flag('The run is refused without a value.'),
  generator: text('`uuid()`, `currentDate()`, `getEnvVar("X")` and so on; used when no value is given.'),
  scope: flag(
    "Whether the value selects what is scanned. Runs with different values then do not mark each other's findings as gone. Default true; false for `threads`, `rate`, `rate_limit`, `concurrency`, `timeout`, `delay`, `retries` and names with such an ending (`scan_timeout`).",
  ),
  description: text('For people.'),
}
export interface Param extends Having<'name', typeof paramFields> {}
const paramSpec: ObjectSpec<Param> = { name: 'param', fields: paramFields }

export const dependenciesSpec = spec('dependencies', {
  commands: texts('Programs that must be on PATH.'),
  files: texts('Files that must exist.'),
  variables: list(
    () =>
      spec('variable', {
        name: text('Name of the variable.', true),
        type: text('Type, or several accepted types, separated by commas.'),
        required: flag('The variable must not be empty.'),
      }),
    'Variables that must exist and have the right type.',
  ),
  target_types: words('Types of targets that the workflow accepts.'),
  functions_conditions: expression(texts('Expressions that must all be true.')),
})

export const triggerSpec = spec('trigger', {
  name: text('Name.'),
  on: preferably(['cron', 'event', 'watch', 'manual'], 'What fires the trigger.', 'wanted'),
  enabled: flag('Default false. A manual trigger with false prevents that users start the workflow.'),
  schedule: text('Cron expression of five fields, a name like @daily, or an interval like @every 2h.'),
  timezone: text('Time zone of the schedule, for example Europe/Berlin; default UTC.'),
  missed: choice(
    ['skip', 'once', 'all'],
    'Which missed times fire after a time without a master: none (`skip`), one for all (`once`, default), or each within missed_window (`all`).',
  ),
  missed_window: text('Age up to which missed times fire, as a duration; default 1h.'),
  jitter: text(
    'A duration of at most 24h: each trigger fires later than its times by a part of it, always the same one.',
  ),
  overlap: choice(
    ['allow', 'skip', 'queue', 'cancel-previous'],
    'What happens if the runs of the last firing have not ended; default allow.',
  ),
  run_mode: choice(
    ['local', 'distributed'],
    'Mode of the runs; default distributed on a master, otherwise local.',
  ),
  event: object(
    () =>
      spec('event', {
        topic: text('Topic, or a shell glob.'),
        filters: texts('Expressions over `event` that must all be true for the trigger to fire.'),
        filter_functions: texts('The same as `filters`. Both may call functions that compute or read files.'),
        dedupe_key: text('Template; the trigger fires once for the same text within the window.'),
        dedupe_window: text('Length of the window, as a duration.'),
      }),
    'Events for which the trigger fires.',
  ),
  path: text('File or glob to watch.'),
  debounce: text('Time without a change before a watch fires.'),
  input: jsonMapAsWritten('Target and params of the run, from the event.'),
})

export const reportSpec = spec('report', {
  name: text('Name.', true),
  path: template(text('File; a template.', 'wanted')),
  type: preferably(REPORT_TYPES, 'Kind of file.'),
  description: template(text('For people.')),
  optional: flag('Whether the report may be missing.'),
})

export const preferencesSpec = spec('preferences', {
  disable_notifications: flag('No notifications.'),
  disable_logging: flag('No log files.'),
  heuristics_check: choice(HEURISTICS, 'How closely the target is examined.'),
  ci_output_format: flag('Output for CI.'),
  silent: flag('Less output.'),
  repeat: flag('Repeat the run.'),
  repeat_wait_time: text('Time between runs.'),
  empty_target: flag('The workflow needs no target.'),
})

export const hooksSpec = spec('hooks', {
  pre_scan_steps: apart(list(hookStepSpec, 'Steps before the scan; a failure is only logged.')),
  post_scan_steps: apart(list(hookStepSpec, 'Steps after a successful scan; a failure is only logged.')),
})

const moduleFields = {
  name: text('Name, unique in the flow.', true),
  path: text('File of the module, or its name.'),
  params: template(textMap('Params of the module; templates over the variables of the flow.')),
  depends_on: texts('Modules that must end before this one.'),
  condition: expression(text('Expression; the module is skipped when it is false.')),
  on_success: list(() => actionSpec, 'Actions after success.', 'action'),
  on_error: list(() => actionSpec, 'Actions after failure; `abort` fails the flow.', 'action'),
  decision: apart(object(() => decisionSpec, 'Not used for modules.')),
  steps: apart(list(nestedStepSpec, 'Steps of an inline module.')),
  runner: choice(
    RUNNER_TYPES,
    'Runner of the commands of the module; it overrides the runner that the module names.',
  ),
  runner_config: object(() => runnerConfigSpec, 'Settings of the runner.'),
  description: text('For people.'),
  inline_path: text('For people.'),
  exports: textMap('Not used; the exports of a module are available to later modules without it.'),
}
export interface ModuleRef extends Having<'name', typeof moduleFields> {}
const moduleRefSpec: ObjectSpec<ModuleRef> = { name: 'module', fields: moduleFields }

export const overrideSpec = spec('override', {
  params: jsonMapAsWritten('New default by name, or `{default, type, required, generator}`.'),
  steps: object(
    () =>
      spec('steps', {
        mode: choice(['replace', 'prepend', 'append', 'merge'], 'Default append.'),
        steps: list(() => stepSpec, 'Steps to add.'),
        replace: list(() => stepSpec, 'With `merge`: steps that replace those with the same name.'),
        remove: texts('With `merge`: names of steps to remove.'),
      }),
    'Changes of the steps.',
  ),
  modules: object(
    () =>
      spec('modules', {
        mode: choice(['replace', 'prepend', 'append', 'merge'], 'Default append.'),
        modules: list(() => moduleRefSpec, 'Modules to add.'),
        replace: list(() => moduleRefSpec, 'With `merge`: modules that replace those with the same name.'),
        remove: texts('With `merge`: names of modules to remove.'),
      }),
    'Changes of the modules.',
  ),
  triggers: list(() => triggerSpec, 'Replaces the triggers.'),
  dependencies: object(() => dependenciesSpec, 'Added to those of the parent.'),
  on_partial: choice(ON_PARTIAL, 'Replaces the value of the parent.'),
  preferences: object(() => preferencesSpec, 'Replaces single fields.'),
  runner: choice(RUNNER_TYPES, 'Replaces the runner.'),
  runner_config: object(() => runnerConfigSpec, 'Replaces single fields; env and volumes are added.'),
})

const workflowFields = {
  kind: choice(['module', 'flow'], 'A module is a list of steps, a flow a list of modules.', true),
  name: text('Identity of the workflow.', true),
  description: text('For people.'),
  tags: words('Words separated by commas.'),
  hidden: flag('Hide the workflow in lists.'),
  help: object(
    () =>
      spec('help', {
        example_targets: texts('Examples of targets.'),
        usage: text('How to use it.'),
      }),
    'For people.',
  ),
  params: list(() => paramSpec, 'Params that the caller may set.'),
  dependencies: object(() => dependenciesSpec, 'Requirements that are checked before the first step.'),
  triggers: list(() => triggerSpec, 'Triggers that start the workflow.'),
  reports: list(() => reportSpec, 'Files that become artifacts when the run succeeds.'),
  on_partial: choice(
    ON_PARTIAL,
    'The status of a run that completes without the outcome `clean`: `complete` (default) keeps it completed, `fail` makes it failed.',
  ),
  resume: choice(
    ['steps', 'none'],
    'Whether another attempt of a run continues after the last completed step (`steps`, default) or begins at the start (`none`).',
  ),
  preferences: object(() => preferencesSpec, 'Defaults of command-line options.'),
  hooks: object(() => hooksSpec, 'Steps before and after the scan.'),
  runner: choice(RUNNER_TYPES, 'Runner of commands; in a flow, of modules that name none. Default host.'),
  runner_config: object(() => runnerConfigSpec, 'Settings of the runner.'),
  steps: apart(list(() => stepSpec, 'Steps of a module.')),
  modules: list(() => moduleRefSpec, 'Modules of a flow.'),
  extends: text('Name or path of the parent.'),
  override: apart(object(() => overrideSpec, 'Changes of the parent.')),
}
export interface Workflow extends Having<'kind' | 'name', typeof workflowFields> {}

export const workflowSpec: ObjectSpec<Workflow> = { name: 'workflow', fields: workflowFields }
