/** Keeps the place of the charts. */
export const ChartsPlace = () => (
  <div className="charts" role="status" aria-label="Loading the charts">
    <div className="chart-place" />
    <div className="chart-place" />
  </div>
)
