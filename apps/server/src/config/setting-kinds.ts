import { isIP } from 'node:net'

/** A kind of value that a setting may have. */
export interface Kind<T> {
  /** Description of accepted values, which follows the word "accepts" in errors and stands in the list of settings. */
  accepts: string
  /** The value of a text, or undefined when the text is not accepted. */
  parse(text: string): T | undefined
}

/** One variable of the environment. */
export interface Setting<T> {
  name: string
  accepts: string
  /** The default as the list of settings shows it. */
  default: string
  meaning: string
  /** The text is never repeated in an error. */
  secret: boolean
  parse(text: string): T | undefined
  fallback(): T
}

interface SettingText {
  /** Default as it would be written in the environment; for an optional one, what happens without. */
  default: string
  meaning: string
  secret?: boolean
}

/** A setting that always has a value. */
export function setting<T>(name: string, kind: Kind<T>, text: SettingText): Setting<T> {
  return {
    ...describe(name, kind, text),
    fallback: () => {
      const value = kind.parse(text.default)
      if (value === undefined) throw new TypeError(`The default of ${name} is not acceptable.`)
      return value
    },
  }
}

/** A setting that may be left out. */
export function optional<T>(
  name: string,
  kind: Kind<T>,
  text: SettingText,
): Setting<T | undefined> {
  return { ...describe(name, kind, text), fallback: () => undefined }
}

function describe<T>(name: string, kind: Kind<T>, text: SettingText) {
  return {
    name,
    accepts: kind.accepts,
    default: text.default,
    meaning: text.meaning,
    secret: text.secret ?? false,
    parse: kind.parse,
  }
}

/** A group of settings, by name. */
export type Settings = Record<string, Setting<unknown>>

/** The values of a group of settings, under the same names. */
export type Values<Group extends Settings> = {
  readonly [Name in keyof Group]: Group[Name] extends Setting<infer Value> ? Value : never
}

/** Environment variables, by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads a group of settings. A text that is not accepted adds one line to `problems`, naming the
 * variable and what it accepts. Blank counts as absent.
 */
export function readSettings<Group extends Settings>(
  group: Group,
  environment: Environment,
  problems: string[],
): Values<Group> {
  const values = Object.entries(group).map(([key, each]): [string, unknown] => {
    const text = environment[each.name]?.trim()
    if (!text) return [key, each.fallback()]
    const value = each.parse(text)
    if (value !== undefined) return [key, value]
    const given = each.secret ? 'the given text' : JSON.stringify(text)
    problems.push(`${each.name} accepts ${each.accepts}, not ${given}.`)
    return [key, each.fallback()]
  })
  return Object.freeze(Object.fromEntries(values)) as Values<Group>
}

/** Whole numbers from `min` to `max`. */
export function integer(min: number, max: number): Kind<number> {
  return {
    accepts: `a whole number from ${min} to ${max}`,
    parse: (text) => within(/^\d+$/.test(text) ? Number(text) : Number.NaN, min, max),
  }
}

const byteUnits: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
}

/** Sizes in bytes: `95MB`, `1MiB`, `1.5 GiB` or a plain number. The ends are texts of this kind too. */
export function bytes(min: string, max: string): Kind<number> {
  return {
    accepts: `a size from ${min} to ${max} such as 500MB, 1GiB or plain bytes`,
    parse: (text) =>
      within(measure(text, byteUnits), measure(min, byteUnits), measure(max, byteUnits)),
  }
}

const durationUnits: Record<string, number> = {
  '': 1,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Durations in milliseconds: `500ms`, `10s`, `5m` or a plain number. The ends are texts of this kind too. */
export function duration(min: string, max: string): Kind<number> {
  return {
    accepts: `a duration from ${min} to ${max} in ms, s, m, h or d, or plain milliseconds`,
    parse: (text) =>
      within(
        measure(text, durationUnits),
        measure(min, durationUnits),
        measure(max, durationUnits),
      ),
  }
}

function measure(text: string, units: Record<string, number>): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? []
  const factor = units[unit.toLowerCase()]
  return amount === undefined || factor === undefined ? Number.NaN : Number(amount) * factor
}

function within(value: number, min: number, max: number): number | undefined {
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined
}

/** One word of a fixed set. */
export function oneOf<const Word extends string>(...words: Word[]): Kind<Word> {
  return {
    accepts: `one of ${words.join(', ')}`,
    parse: (text) => words.find((word) => word === text.toLowerCase()),
  }
}

/** One word of a fixed set, or what another kind accepts. */
export function either<const Word extends string, T>(words: Word[], kind: Kind<T>): Kind<Word | T> {
  return {
    accepts: `${words.join(', ')} or ${kind.accepts}`,
    parse: (text) => words.find((word) => word === text.toLowerCase()) ?? kind.parse(text),
  }
}

/** Values of one kind between commas, each once. */
export function listOf<T>(kind: Kind<T>): Kind<readonly T[]> {
  return {
    accepts: `a list with commas, each ${kind.accepts}`,
    parse: (text) => {
      const values = text.split(',').map((part) => kind.parse(part.trim()))
      if (!values.every((value) => value !== undefined)) return undefined
      return Object.freeze([...new Set(values)])
    },
  }
}

/** Free text. `accepts` must describe the pattern in words. */
export function text(accepts: string, pattern = /./): Kind<string> {
  return { accepts, parse: (given) => (pattern.test(given) ? given : undefined) }
}

/** An IP address, or a network in the notation `10.0.0.0/8`. */
export const network: Kind<string> = {
  accepts: 'an IP address or a network such as 10.0.0.0/8',
  parse: (given) => {
    const [address = '', prefix = '0', ...more] = given.split('/')
    const maxPrefix = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    const fits = /^\d{1,3}$/.test(prefix) && Number(prefix) <= maxPrefix
    return fits && more.length === 0 ? given : undefined
  },
}

/** A URL that passes `check`, in the spelling that `check` returns. */
export function url(accepts: string, check: (url: URL) => string | undefined): Kind<string> {
  return { accepts, parse: (given) => (URL.canParse(given) ? check(new URL(given)) : undefined) }
}
