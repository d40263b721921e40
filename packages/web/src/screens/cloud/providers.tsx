import { answer, api, byName } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../../api/cloud.ts'
import { Badge, Button, Loaded, toast, toastError } from '../../ui/index.ts'

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

export const Providers = () => (
  <Loaded query={useQuery(providersQuery)} lines={6}>
    {({ providers }) => (
      <ul className="providers panel list ruled">
        {providers.map(({ name, status, configured, is_default, message }) => (
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
    )}
  </Loaded>
)
