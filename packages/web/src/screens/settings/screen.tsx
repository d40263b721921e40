import { useAct } from '../../api/act.ts'
import './settings.css'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answer, api, type Schemas } from '../../api/client.ts'
import { serverInfoQuery, settingsQuery, settingsStatusQuery, settingsYamlQuery } from '../../api/farm.ts'
import {
  Loaded,
  OnlyFor,
  Badge,
  Button,
  Code,
  CopyButton,
  EmptyState,
  ErrorPanel,
  FilterBar,
  KeyValues,
  Notice,
  Page,
  Skeleton,
  toast,
  toastError,
  tab,
  UrlTabs,
  useFilters,
  type Filter,
} from '../../ui/index.ts'

type Setting = Schemas['Setting']

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Search' },
  { name: 'given', label: 'Origin', options: ['default', 'environment', 'file', 'command line'] },
]

/** The heading of the settings that were given. */
const CHANGED = 'Changed'
const isDefault = ({ origin }: Setting): boolean => origin === 'default'

const originOf = ({ origin }: Setting): string => {
  if (origin === 'default' || origin === 'command line') return origin
  return /^[A-Z][A-Z0-9_]*$/.test(origin) ? 'environment' : 'file'
}

const textOf = (value: unknown): string => {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Text with `code` between backticks. */
const Description = ({ text }: { text: string }) =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))

const ReloadButton = () => {
  const reload = useAct(() => answer(api.POST('/settings/reload')), {
    refresh: ['settings'],
    done: ({ message }) => toast(message),
    failed: toastError,
  })
  return (
    <Button needs="admin" busy={reload.isPending} onClick={() => reload.mutate()}>
      Reload
    </Button>
  )
}

/** What the server is, and what a restart would change. */
const Status = () => {
  const { data: info } = useQuery(serverInfoQuery)
  const { data: status } = useQuery(settingsStatusQuery)
  const pending = status?.restart_required ?? []
  const problems = status?.problems ?? []
  return (
    <>
      {problems.length === 0 ? null : (
        <Notice tone="bad" role="alert">
          <p>The settings have changed since the start of the server. It would not start again:</p>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </Notice>
      )}
      {pending.length === 0 ? null : (
        <p className="notice tone-warn" role="status">
          ▲ Restart the server to apply {pending.join(', ')}.
        </p>
      )}
      <KeyValues
        facts={{
          Version: info?.version,
          Runs: info?.run_modes.join(', '),
          Queue: info && (info.queue || 'none: the server is not a master'),
          'Settings file': status && (status.config_path || 'none'),
          'Data folder': status?.base_folder,
          Artifacts: status && (status.storage_configured ? 'S3' : 'local folder'),
        }}
      />
    </>
  )
}

const Row = ({ setting, pending }: { setting: Setting; pending: boolean }) => {
  const { key, value, origin, description, env, kind, fallback } = setting
  const text = textOf(value)
  return (
    <li className="setting">
      <div>
        <strong>
          <code>{key}</code>
        </strong>
        <CopyButton text={key} label={key} />
        <p className="wrap">
          <Description text={description} />
        </p>
        <details>
          <summary className="caption">How to set it</summary>
          <KeyValues facts={{ Environment: <code>{env}</code>, Type: kind, Default: fallback || 'none' }} />
        </details>
      </div>
      <div className="stack setting-value">
        {text === '' ? <span className="muted">not set</span> : <code>{text}</code>}
        <span className={isDefault(setting) ? 'caption' : 'small setting-origin'}>{origin}</span>
        {pending ? <Badge tone="warn">changed, restart needed</Badge> : null}
      </div>
    </li>
  )
}

const Settings = () => {
  const [{ q = '', given }] = useFilters(['q', 'given'])
  const { data, error, refetch } = useQuery(settingsQuery)
  const { data: status } = useQuery(settingsStatusQuery)
  const groups = useMemo(() => {
    const words = q.toLowerCase().split(/\s+/)
    const found = data?.filter((setting) => {
      const text =
        `${setting.key} ${setting.env} ${setting.description} ${textOf(setting.value)}`.toLowerCase()
      return (!given || originOf(setting) === given) && words.every((word) => text.includes(word))
    })
    const groupOf = (setting: Setting): string =>
      isDefault(setting) ? (setting.key.split('.')[0] ?? setting.key) : CHANGED
    const changedFirst = found?.toSorted((a, b) => Number(isDefault(a)) - Number(isDefault(b)))
    return changedFirst && [...Map.groupBy(changedFirst, groupOf)]
  }, [data, q, given])
  if (!groups)
    return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={10} />
  return (
    <div className="stack gap-16">
      <FilterBar filters={FILTERS} />
      {groups.length === 0 ? (
        <EmptyState title="No setting matches">Clear a filter to see more.</EmptyState>
      ) : null}
      {groups.map(([group, settings]) => (
        <section key={group} className="stack gap-6" aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>{group}</h2>
          <ul className="panel list ruled">
            {settings.map((setting) => (
              <Row
                key={setting.key}
                setting={setting}
                pending={status?.restart_required.includes(setting.key) ?? false}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const Yaml = () => (
  <Loaded query={useQuery(settingsYamlQuery)} lines={10}>
    {(yaml) => (
      <>
        <p className="muted">
          All settings that have a value, in the form of a settings file. Secrets are <code>***</code>.{' '}
          <CopyButton text={yaml} label="the settings" />
        </p>
        <Code label="The settings as YAML">{yaml}</Code>
      </>
    )}
  </Loaded>
)

export const Screen = () => (
  <Page
    title="Settings"
    commands={[
      { title: 'Print the settings of this machine', cli: ['config'], api: ['GET', '/settings'] },
      { title: 'Reload the workflows and check the settings', api: ['POST', '/settings/reload'] },
    ]}
    actions={<ReloadButton />}
  >
    <OnlyFor needs="admin" title="Only administrators see the settings">
      <Status />
      <UrlTabs
        label="Forms of the settings"
        tabs={[tab('list', 'Settings', <Settings />), tab('yaml', 'YAML', <Yaml />)]}
      />
    </OnlyFor>
  </Page>
)
