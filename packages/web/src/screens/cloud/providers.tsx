import { answer, api, byName } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../../api/cloud.ts'
import type { DataOf } from '../../api/list.ts'
import { Badge, Button, column, DataTable, toast, toastError, type Column } from '../../ui/index.ts'

type Provider = DataOf<typeof providersQuery>['providers'][number]

const STATES = {
  valid: ['good', 'credentials accepted'],
  invalid: ['bad', 'refused'],
  not_configured: ['off', 'not configured'],
} as const

const Check = ({ name }: { name: string }) => {
  const check = useAct(() => answer(api.POST('/cloud/providers/{name}/validate', byName(name))), {
    refresh: ['cloud-providers'],
    done: ({ valid, message }) => toast(message, valid ? 'good' : 'bad'),
    failed: toastError,
  })
  return (
    <Button
      needs="operator"
      busy={check.isPending}
      onClick={() => check.mutate()}
      aria-label={`Check now: ${name}`}
    >
      Check now
    </Button>
  )
}

const COLUMNS: readonly Column<Provider>[] = [
  column('name', 'Provider', '150px', ({ name, is_default }) => (
    <>
      <strong>{name}</strong> {is_default ? <span className="muted">default</span> : null}
    </>
  )),
  column('status', 'Credentials', '190px', ({ status }) => (
    <Badge tone={STATES[status][0]}>{STATES[status][1]}</Badge>
  )),
  column('message', 'Message', 'minmax(200px, 1fr)', 'message'),
  column('actions', 'Actions', '110px', ({ name, configured }) =>
    configured ? <Check name={name} /> : null,
  ),
]

export const Providers = () => {
  const { data, error, refetch } = useQuery(providersQuery)
  const rows = data?.providers
  return (
    <DataTable
      label="Providers"
      columns={COLUMNS}
      list={{ rows, total: rows?.length, error, retry: () => void refetch() }}
      keyOf={({ name }) => name}
      none="No providers"
    />
  )
}
