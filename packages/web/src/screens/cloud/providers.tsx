import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { providersQuery, validateProvider } from '../../api/cloud.ts'
import { useRefusal } from '../../api/role.ts'
import { Badge, Button, ErrorPanel, Skeleton, toast, toastError } from '../../ui/index.ts'

const STATES = {
  valid: ['good', 'credentials accepted'],
  invalid: ['bad', 'refused'],
  not_configured: ['off', 'not configured'],
} as const

const Check = ({ name }: { name: string }) => {
  const refusal = useRefusal('operator')
  const check = useAct(() => validateProvider(name), {
    refresh: ['cloud-providers'],
    done: ({ valid, message }) => toast(message, valid ? 'good' : 'bad'),
    failed: toastError,
  })
  return (
    <Button
      refusal={refusal}
      busy={check.isPending}
      onClick={() => check.mutate()}
      aria-label={`Check now: ${name}`}
    >
      Check now
    </Button>
  )
}

export const Providers = () => {
  const { data, error, refetch } = useQuery(providersQuery)
  if (!data)
    return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} />
  return (
    <ul className="providers panel list ruled">
      {data.providers.map(({ name, status, configured, is_default, message }) => (
        <li key={name}>
          <strong>
            {name}
            {is_default ? <span className="muted"> default</span> : null}
          </strong>
          <Badge tone={STATES[status][0]}>{STATES[status][1]}</Badge>
          <span className="muted providers-message">{message}</span>
          {configured ? <Check name={name} /> : null}
        </li>
      ))}
    </ul>
  )
}
