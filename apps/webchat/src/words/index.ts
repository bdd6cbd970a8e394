import type { Language } from '../shared/look.js'
import { ar } from './ar.js'
import { de } from './de.js'
import { en, type Words } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'

export type { Words } from './en.js'

export const wordsOf: Readonly<Record<Language, Words>> = { en, de, fr, es, ar }

/** Puts a name or a number into words. */
export function fill(text: string, values: { name?: string; number?: number }): string {
  // Replaced by functions: a name may contain what a replacement gives a meaning.
  return text.replace('$', () => values.name ?? '').replace('#', () => String(values.number ?? ''))
}
