/** Keeps the space of the charts. */
export const ChartsPlaceholder = () => (
  <div className="grid charts" role="status" aria-busy="true" aria-label="Loading the charts">
    <div className="panel chart-placeholder" />
    <div className="panel chart-placeholder" />
  </div>
)
