import { limitLines, limitsOfLines } from '@scanfarm/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
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
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: async (values: Readonly<Record<string, string>>) =>
      setFarmLimits(limitsOfLines(linesOf(values['limits']))),
    onSuccess: async () => {
      toast('The limits are saved.')
      await queries.invalidateQueries({ queryKey: ['limits'] })
      onDone()
    },
  })
  return (
    <Form error={save.error} onSubmit={(values) => save.mutate(values)}>
      <p>Runs beyond a limit wait. Scopes can have stricter limits of their own.</p>
      <LimitsField label="Limits, one a line" limits={limits} />
      <FormActions call={save} onBack={onDone}>
        Save
      </FormActions>
    </Form>
  )
}

/** How much all runs together may load a host. */
export const FarmLimits = ({ onDone }: { onDone: () => void }) => (
  <Loaded query={useQuery(farmLimitsQuery)}>{(limits) => <Fields limits={limits} onDone={onDone} />}</Loaded>
)
