import { noQuota } from '@botstead/contract'

/** Used part of a quota from which people are warned. */
const near = 0.8

/** How much of a quota is used, and whether that needs attention. */
export interface Completion {
  level: 'low' | 'near' | 'full'
  /** Whole percents, rounded down. */
  percent: number
}

/** Compares what is used with a quota; undefined where there is no quota. */
export function completionOf({
  value,
  quota,
}: {
  value: number
  quota: number
}): Completion | undefined {
  if (quota >= noQuota) return undefined
  // Nothing is allowed, and all of it is used.
  const part = quota === 0 ? 1 : value / quota
  return {
    level: part >= 1 ? 'full' : part >= near ? 'near' : 'low',
    percent: Math.floor(part * 100),
  }
}

/** Units of a size in a form, with their bytes. */
export const sizeUnits = { bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const

export type SizeUnit = keyof typeof sizeUnits

export function isSizeUnit(text: string): text is SizeUnit {
  return Object.hasOwn(sizeUnits, text)
}

/** A size as a form has it: in the largest unit in which it has at most three decimals. */
export function toSize(bytes: number): { amount: string; unit: SizeUnit } {
  const units = (Object.keys(sizeUnits) as SizeUnit[]).toReversed()
  const unit = units.find((name) => {
    const amount = bytes / sizeUnits[name]
    return amount >= 1 && Number(amount.toFixed(3)) * sizeUnits[name] === bytes
  })
  if (unit === undefined) return { amount: String(bytes), unit: bytes === 0 ? 'GB' : 'bytes' }
  return { amount: String(bytes / sizeUnits[unit]), unit }
}

/** The bytes of a size in a form. */
export function fromSize(amount: string, unit: SizeUnit): number {
  return Math.round(Number(amount) * sizeUnits[unit])
}
