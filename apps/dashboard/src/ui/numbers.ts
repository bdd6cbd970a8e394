const whole = new Intl.NumberFormat(undefined)
const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB']

export function formatNumber(value: number): string {
  return whole.format(value)
}

/** A size for people: `1.4 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${byteUnits[unit]}`
}
