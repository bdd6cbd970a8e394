/** One value of a metric, told apart from the others by its labels. */
export interface Sample {
  /** Of the same names in all samples of one family. */
  labels?: Readonly<Record<string, string>>
  value: number
  /** What a histogram adds to the name of its family: `_bucket`, `_sum` or `_count`. */
  suffix?: string
}

/** Values under one name. */
export interface Family {
  /** Ends with its unit, and with `_total` if it is a counter. */
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly Sample[]
}

/** Something that can be measured. What it costs is paid when somebody asks. */
export interface Metric {
  /** The values of now. Rejects when they cannot be known. */
  collect(): readonly Family[] | Promise<readonly Family[]>
}

interface Description {
  name: string
  help: string
}

/** A value that goes up and down and that is known at any time. */
export function gauge(description: Description, read: () => number): Metric {
  return {
    collect: () => [{ ...description, type: 'gauge', samples: [{ value: read() }] }],
  }
}
