// Measures work that is done many times.

/** Rounds per question; the median counts, because others may use the machine. */
const rounds = 3

/**
 * Milliseconds of elapsed time and of processor time of this process, each at p50 and p95 over the questions.
 * The first round warms up.
 */
export async function timed(questions, work) {
  for (const question of questions) await work(question)
  const clock = []
  const processor = []
  for (const question of questions) {
    const own = []
    for (let round = 0; round < rounds; round++) {
      const used = process.cpuUsage()
      const begin = performance.now()
      await work(question)
      const wall = performance.now() - begin
      const { user, system } = process.cpuUsage(used)
      own.push({ wall, cpu: (user + system) / 1000 })
    }
    clock.push(middle(own.map(({ wall }) => wall)))
    processor.push(middle(own.map(({ cpu }) => cpu)))
  }
  return { clock: quantiles(clock), processor: quantiles(processor) }
}

export function quantiles(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) }
}

export function describe({ p50, p95 }) {
  return `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`
}

function middle(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
