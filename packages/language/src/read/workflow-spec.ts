import { HEURISTICS } from '@scanfarm/contracts'
import {
  ON_PARTIAL,
  PARAM_TYPES,
  type Dependencies,
  type Hooks,
  type ModuleRef,
  type Override,
  type Param,
  type Preferences,
  type Report,
  type Trigger,
  type Workflow,
} from '../model.ts'
import {
  choice,
  flag,
  json,
  jsonMap,
  list,
  number,
  object,
  preferably,
  spec,
  text,
  textMap,
  texts,
  words,
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

const paramSpec: ObjectSpec = spec<Param>('param', {
  name: text('Letters, digits and underscores.', true),
  type: preferably(
    PARAM_TYPES,
    'What a value must be. `bool` makes a real boolean; `args` are arguments of a command; without a type every text is taken.',
  ),
  min: number('Smallest value of an `int`.'),
  max: number('Largest value of an `int`.'),
  choices: words('Values that a `choice` may have.'),
  multiple: flag('A `choice` may be several of the choices, separated by commas.'),
  default: json('Value when none is given; a template over built-in variables and earlier params.'),
  value: json('Another word for `default`.'),
  required: flag('The run is refused without a value.'),
  generator: text('`uuid()`, `currentDate()`, `getEnvVar("X")` and so on; used when no value is given.'),
  scope: flag(
    "Whether runs with another value look at something else, so that they do not mark each other's findings as gone. Default true, but false for `threads`, `rate`, `rate_limit`, `concurrency`, `timeout`, `delay`, `retries` and names that end so (`scan_timeout`).",
  ),
  description: text('For people.'),
})

const dependenciesSpec: ObjectSpec = spec<Dependencies>('dependencies', {
  commands: texts('Programs that must be on PATH.'),
  files: texts('Files that must exist.'),
  variables: list(
    () =>
      spec<NonNullable<Dependencies['variables']>[number]>('variable', {
        name: text('Name of the variable.', true),
        type: text('Type, or types separated by commas, any of which will do.'),
        required: flag('The variable must not be empty.'),
      }),
    'Variables that must be there and of the right type.',
  ),
  target_types: words('Kinds of target that the workflow can take, any of them.'),
  functions_conditions: texts('Expressions that must all be true.'),
})

const triggerSpec: ObjectSpec = spec<Trigger>('trigger', {
  name: text('Name.'),
  on: preferably(['cron', 'event', 'watch', 'manual'], 'What fires it.', 'wanted'),
  enabled: flag('Default false. A manual trigger that says false keeps people from starting the workflow.'),
  schedule: text('Five-field cron expression, @daily and its like, or @every 2h.'),
  timezone: text('Time zone of the schedule, such as Europe/Berlin; default UTC.'),
  missed: choice(
    ['skip', 'once', 'all'],
    'Firings that fell into a time without a master: none, one for all (default), or each within missed_window.',
  ),
  missed_window: text('How far back missed firings are made up for; a duration, default 1h.'),
  overlap: choice(
    ['allow', 'skip', 'queue', 'cancel-previous'],
    'What happens when the run of the last firing has not ended; default allow.',
  ),
  run_mode: choice(
    ['local', 'distributed'],
    'Where the runs go; default distributed on a master, else local.',
  ),
  event: object(
    () =>
      spec<NonNullable<Trigger['event']>>('event', {
        topic: text('Topic, or a shell glob.'),
        filters: texts('Expressions over `event` that must all be true.'),
        filter_functions: texts('The same; both may call functions that compute and that read files.'),
        dedupe_key: text('Template; the same text within the window fires once.'),
        dedupe_window: text('Duration.'),
      }),
    'Which events.',
  ),
  path: text('File or glob to watch.'),
  debounce: text('Quiet time before a watch fires.'),
  input: jsonMap('Params of the run, from the event.'),
})

const reportSpec: ObjectSpec = spec<Report>('report', {
  name: text('Name.', true),
  path: text('File; a template.', 'wanted'),
  type: preferably(REPORT_TYPES, 'Kind of file.'),
  description: text('For people.'),
  optional: flag('Not missed when it is not there.'),
})

const preferencesSpec: ObjectSpec = spec<Preferences>('preferences', {
  disable_notifications: flag('No notifications.'),
  disable_logging: flag('No log files.'),
  heuristics_check: choice(HEURISTICS, 'How closely the target is looked at.'),
  ci_output_format: flag('Output for CI.'),
  silent: flag('Less output.'),
  repeat: flag('Run again and again.'),
  repeat_wait_time: text('Pause between runs.'),
  empty_target: flag('The workflow needs no target.'),
})

const hooksSpec: ObjectSpec = spec<Hooks>('hooks', {
  pre_scan_steps: list(hookStepSpec, 'Steps before; a failure is logged and no more.'),
  post_scan_steps: list(hookStepSpec, 'Steps after success; a failure is logged and no more.'),
})

const moduleRefSpec: ObjectSpec = spec<ModuleRef>('module', {
  name: text('Name, unique in the flow.', true),
  path: text('File of the module, or its name.'),
  params: textMap('Params of the module; templates over the variables of the flow.'),
  depends_on: texts('Modules that must end before.'),
  condition: text('Expression; the module is skipped when it is false.'),
  on_success: list(() => actionSpec, 'Actions after success.', 'action'),
  on_error: list(() => actionSpec, 'Actions after failure; `abort` fails the flow.', 'action'),
  decision: object(() => decisionSpec, 'Not used for modules.'),
  steps: list(nestedStepSpec, 'Steps of a module written in place.'),
  runner: choice(
    RUNNER_TYPES,
    'Where the commands of the module run; goes before the runner that the module itself names.',
  ),
  runner_config: object(() => runnerConfigSpec, 'Settings of the runner.'),
  description: text('For people.'),
  inline_path: text('For people.'),
  exports: textMap('Not used; variables of a module flow on by themselves.'),
})

const overrideSpec: ObjectSpec = spec<Override>('override', {
  params: jsonMap('New default by name, or `{default, type, required, generator}`.'),
  steps: object(
    () =>
      spec<NonNullable<Override['steps']>>('steps', {
        mode: choice(['replace', 'prepend', 'append', 'merge'], 'Default append.'),
        steps: list(() => stepSpec, 'Steps to add.'),
        replace: list(() => stepSpec, 'With `merge`: steps that take the place of those of the same name.'),
        remove: texts('With `merge`: names of steps to drop.'),
      }),
    'Changes of the steps.',
  ),
  modules: object(
    () =>
      spec<NonNullable<Override['modules']>>('modules', {
        mode: choice(['replace', 'prepend', 'append', 'merge'], 'Default append.'),
        modules: list(() => moduleRefSpec, 'Modules to add.'),
        replace: list(
          () => moduleRefSpec,
          'With `merge`: modules that take the place of those of the same name.',
        ),
        remove: texts('With `merge`: names of modules to drop.'),
      }),
    'Changes of the modules.',
  ),
  triggers: list(() => triggerSpec, 'Replaces the triggers.'),
  dependencies: object(() => dependenciesSpec, 'Added to those of the parent.'),
  on_partial: choice(ON_PARTIAL, 'Replaces that of the parent.'),
  preferences: object(() => preferencesSpec, 'Replaces field by field.'),
  runner: choice(RUNNER_TYPES, 'Replaces the runner.'),
  runner_config: object(() => runnerConfigSpec, 'Replaces field by field; env and volumes are added.'),
})

export const workflowSpec: ObjectSpec = spec<Workflow>('workflow', {
  kind: choice(['module', 'flow'], 'A module is a list of steps, a flow a list of modules.', true),
  name: text('Identity of the workflow.', true),
  description: text('For people.'),
  tags: words('Words separated by commas.'),
  hidden: flag('Left out of lists.'),
  help: object(
    () =>
      spec<NonNullable<Workflow['help']>>('help', {
        example_targets: texts('Targets to try.'),
        usage: text('How to use it.'),
      }),
    'For people.',
  ),
  params: list(() => paramSpec, 'What the caller may set.'),
  dependencies: object(() => dependenciesSpec, 'What must be there before the first step.'),
  triggers: list(() => triggerSpec, 'What starts the workflow by itself.'),
  reports: list(() => reportSpec, 'Files that become artifacts when the run succeeds.'),
  on_partial: choice(
    ON_PARTIAL,
    'A run of this workflow that completes and is not clean: `complete` (default) keeps it completed, `fail` makes it failed.',
  ),
  preferences: object(() => preferencesSpec, 'Defaults of command-line options.'),
  hooks: object(() => hooksSpec, 'Steps around the scan.'),
  runner: choice(RUNNER_TYPES, 'Where commands run, in a flow for modules that name none; default host.'),
  runner_config: object(() => runnerConfigSpec, 'Settings of the runner.'),
  steps: list(() => stepSpec, 'Steps of a module.'),
  modules: list(() => moduleRefSpec, 'Modules of a flow.'),
  extends: text('Name or path of the parent.'),
  override: object(() => overrideSpec, 'What differs from the parent.'),
})
