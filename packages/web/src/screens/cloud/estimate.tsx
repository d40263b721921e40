import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { estimateCost, providersQuery, type EstimateRequest } from '../../api/cloud.ts'
import { ApiError } from '../../api/client.ts'
import { Button, ErrorPanel, Field, Form, KeyValues, SelectField } from '../../ui/index.ts'
import { dollars } from './cost.ts'

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

const FIELDS = ['provider', 'instances', 'instance_type', 'region', 'hours']

const concernsField = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.details.length > 0 &&
  error.details.every(({ path }) => FIELDS.includes(path.replace(/^\//, '')))

export const Estimate = () => {
  const { data } = useQuery(providersQuery)
  const estimate = useAct(estimateCost)
  const found = estimate.data
  return (
    <div className="estimate">
      <Form error={estimate.error} onSubmit={(values) => estimate.mutate(requestOf(values))}>
        <div className="grid">
          <SelectField
            name="provider"
            label="Provider"
            none={`default${data?.default_provider ? ` (${data.default_provider})` : ''}`}
            options={(data?.providers ?? []).filter(({ configured }) => configured).map(({ name }) => name)}
          />
          <Field name="instances" label="Machines" type="number" min={1} max={10_000} defaultValue={1} />
          <Field
            name="hours"
            label="Hours"
            type="number"
            min={1}
            max={8760}
            placeholder="from the settings"
          />
          <Field name="instance_type" label="Type" maxLength={128} placeholder="default" />
          <Field name="region" label="Region" maxLength={128} placeholder="default" />
        </div>
        <label className="check">
          <input type="checkbox" name="spot" /> Spot machines: cheaper, the provider may interrupt them
        </label>
        {estimate.error && !concernsField(estimate.error) ? <ErrorPanel error={estimate.error} /> : null}
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
