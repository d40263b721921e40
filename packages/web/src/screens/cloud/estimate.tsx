import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../../api/cloud.ts'
import { answer, api, type Schemas } from '../../api/client.ts'
import { Button, choice, ErrorPanel, Fields, Form, KeyValues, text, type FieldRow } from '../../ui/index.ts'
import { dollars } from './cost.ts'

type EstimateRequest = Schemas['EstimateCost']

/** Empty inputs are left to the settings and the provider. */
const requestOf = ({
  provider,
  instances,
  instance_type,
  region,
  hours,
  spot,
}: Readonly<Record<string, string>>) =>
  ({
    ...(provider && { provider }),
    ...(instances && { instances: Number(instances) }),
    ...(instance_type && { instance_type }),
    ...(region && { region }),
    ...(hours && { hours: Number(hours) }),
    ...(spot && { use_spot: true }),
  }) as EstimateRequest

export const Estimate = () => {
  const { data } = useQuery(providersQuery)
  const providers = (data?.providers ?? []).filter(({ configured }) => configured).map(({ name }) => name)
  const estimate = useAct((body: EstimateRequest) => answer(api.POST('/cloud/estimate', { body })))
  const found = estimate.data
  const rows: readonly FieldRow[] = [
    [
      choice('provider', 'Provider', providers, {
        none: `default${data?.default_provider ? ` (${data.default_provider})` : ''}`,
      }),
      text('instances', 'Machines', { type: 'number', min: 1, max: 10_000 }),
      text('hours', 'Hours', { type: 'number', min: 1, max: 8760, placeholder: 'from the settings' }),
      text('instance_type', 'Type', { maxLength: 128, placeholder: 'default' }),
      text('region', 'Region', { maxLength: 128, placeholder: 'default' }),
    ],
  ]
  return (
    <div className="stack estimate">
      <Form error={estimate.error} onSubmit={(values) => estimate.mutate(requestOf(values))}>
        <Fields rows={rows} values={{ instances: '1' }} />
        <label className="check">
          <input type="checkbox" name="spot" /> Spot machines: cheaper, the provider may interrupt them
        </label>
        {estimate.error ? <ErrorPanel error={estimate.error} /> : null}
        <div>
          <Button type="submit" kind="primary" busy={estimate.isPending}>
            Estimate the cost
          </Button>{' '}
          <span className="muted">Creates nothing.</span>
        </div>
      </Form>
      {found ? (
        <section aria-label="Estimate" aria-live="polite">
          <KeyValues
            facts={{
              Machines: `${found.instance_count} × ${found.instance_type}`,
              Where: [found.provider, found.region].filter(Boolean).join(' · '),
              'An hour': dollars(found.hourly_cost, 4),
              'A day': dollars(found.daily_cost),
              [`${found.hours} ${found.hours === 1 ? 'hour' : 'hours'}`]: dollars(found.estimated_cost),
            }}
          />
          <ul className="muted">
            {found.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  )
}
