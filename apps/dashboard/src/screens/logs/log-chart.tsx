import { useAddressSearch } from '../../api/address.js'
import { levels } from '../../ui/level.js'
import { Time } from '../../ui/time.js'
import { TimeChart } from '../../ui/time-chart.js'
import type { LogFilter } from './filter.js'
import styles from './logs.module.css'
import { useLogCounts } from './queries.js'

const stacked = ['error', 'warn', 'info', 'debug'] as const

/** The lines that match by level over time: of the last day, where the filter says nothing else. */
export function LogChart({ filter }: { filter: LogFilter }) {
  const [, change] = useAddressSearch()
  const { data } = useLogCounts(filter)
  // The list says what failed.
  if (data === undefined) return <div className={styles.chart} />
  const { buckets, bucketMs, countedFrom } = data
  return (
    <div className={styles.chart}>
      <TimeChart
        label="Lines by level over time"
        starts={buckets.map(({ start }) => Date.parse(start))}
        bucketMs={bucketMs}
        series={stacked.map((level) => ({
          label: levels[level].word,
          color: levels[level].color,
          counts: buckets.map((bucket) => bucket[level]),
        }))}
        onZoom={(since, until) =>
          change({
            range: undefined,
            since: new Date(since).toISOString(),
            until: new Date(until).toISOString(),
          })
        }
      />
      {countedFrom !== undefined && (
        <p className={styles.hint}>
          Too many lines to count all: those before <Time at={countedFrom} /> are not in the chart.
        </p>
      )}
    </div>
  )
}
