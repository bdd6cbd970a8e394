import styles from './sparkline.module.css'

interface SparklineProps {
  /** Name of the counted objects for screen readers. */
  label: string
  /** One for each period, oldest first. */
  counts: readonly number[]
}

const bar = 4
const height = 20

/** Counts of equal periods as small bars. */
export function Sparkline({ label, counts }: SparklineProps) {
  const max = Math.max(1, ...counts)
  return (
    <svg
      role="img"
      aria-label={`${label}: ${counts.join(', ')}`}
      className={styles.sparkline}
      width={counts.length * bar}
      height={height}
    >
      {counts.map((count, index) => {
        // One is seen beside a thousand.
        const length = count === 0 ? 1 : Math.max(3, Math.round((count / max) * height))
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: bars have no other name
            key={index}
            className={count === 0 ? styles.none : styles.some}
            x={index * bar}
            y={height - length}
            width={bar - 1}
            height={length}
          />
        )
      })}
    </svg>
  )
}
