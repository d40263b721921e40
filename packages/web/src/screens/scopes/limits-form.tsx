import { useAct } from '../../api/act.ts'
import { limitLines, limitsOfLines } from '@scanfarm/client'
import { useQuery } from '@tanstack/react-query'
import { farmLimitsQuery, setFarmLimits, type Scope } from '../../api/scopes.ts'
import { Form, FormActions, linesOf, Loaded, TextField, toast } from '../../ui/index.ts'

type Limits = Scope['limits']

export const LimitsField = ({ label, limits }: { label: string; limits: Limits | undefined }) => (
  <TextField
    name="limits"
    label={label}
    hint="rate: connections or requests a second. workflow:once: of the runs of a workflow on a target one works at a time."
    placeholder={'address:rate=10,runs=2\nnetwork:runs=5\ndomain:rate=50\nworkflow:once'}
    rows={4}
    defaultValue={limitLines(limits).join('\n')}
  />
)

const Fields = ({ limits, onDone }: { limits: Limits; onDone: () => void }) => {
  const save = useAct(async (lines: string | undefined) => setFarmLimits(limitsOfLines(linesOf(lines))), {
    refresh: ['limits'],
    done: () => {
      toast('The limits are saved.')
      onDone()
    },
  })
  return (
    <Form error={save.error} onSubmit={(values) => save.mutate(values['limits'])}>
      <p>Runs beyond a limit wait. Scopes can have stricter limits of their own.</p>
      <LimitsField label="Limits, one a line" limits={limits} />
      <FormActions call={save} onBack={onDone} action="Save" />
    </Form>
  )
}

/** How much all runs together may load a host. */
export const FarmLimits = ({ onDone }: { onDone: () => void }) => (
  <Loaded query={useQuery(farmLimitsQuery)}>{(limits) => <Fields limits={limits} onDone={onDone} />}</Loaded>
)
