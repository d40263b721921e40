interface KindsProps<K extends string> {
  readonly names: Readonly<Record<K, string>>
  readonly countOf: (kind: K) => number | undefined
  readonly chosen: K
  readonly onChange: (kind: K) => void
}

/** The kinds of changes, with how many there are, to choose one. */
export const Kinds = <K extends string>({ names, countOf, chosen, onChange }: KindsProps<K>) => (
  <fieldset className="change-counts line">
    <legend className="unseen">Kind of change</legend>
    {(Object.keys(names) as K[]).map((kind) => (
      <label key={kind} className="inline panel change-count">
        <input type="radio" name="change" checked={kind === chosen} onChange={() => onChange(kind)} />
        {names[kind]} <strong className="number">{countOf(kind)?.toLocaleString()}</strong>
      </label>
    ))}
  </fieldset>
)
