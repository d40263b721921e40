import { answer, api, byName } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../../api/cloud.ts'
import type { DataOf } from '../../api/list.ts'
import {
  Badge,
  Button,
  CardTable,
  ErrorPanel,
  Skeleton,
  toast,
  toastError,
  type CardColumn,
} from '../../ui/index.ts'

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

const COLUMNS: readonly CardColumn<Provider>[] = [
  {
    id: 'name',
    label: 'Provider',
    cell: ({ name, is_default }) => (
      <>
        {name} {is_default ? <span className="muted">default</span> : null}
      </>
    ),
  },
  {
    id: 'status',
    label: 'Credentials',
    cell: ({ status }) => <Badge tone={STATES[status][0]}>{STATES[status][1]}</Badge>,
  },
  { id: 'message', label: 'Message', cell: ({ message }) => message },
  {
    id: 'actions',
    label: 'Actions',
    cell: ({ name, configured }) => (configured ? <Check name={name} /> : null),
  },
]

export const Providers = () => {
  const { data, error, refetch } = useQuery(providersQuery)
  if (data === undefined)
    return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} />
  return <CardTable label="Providers" columns={COLUMNS} rows={data.providers} keyOf={({ name }) => name} />
}
