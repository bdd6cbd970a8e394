import { isGermanGrammar, mayBeGerman, normalise, toRuns } from '@botstead/documents/text'
import type { Db } from '../../../platform/db/schema.js'
import { findBeginnings, findWords, hasGermanWords } from '../vocabulary-store.js'
import type { Substitutes } from './coverage.js'

/** Words of a question that are expanded, the longest first. */
const maxWords = 8
const maxForms = 20
const shortestWord = 3
/** Minimum length of the last part of a compound, unless it has an umlaut. */
const shortestHead = 4
/** Minimum length of the part before the last one. */
const shortestModifier = 3
const shortestRest = 4
/** Length from which a word of the question may be a compound. */
const shortestCompound = 8
/** Maximum number of possible compounds that are checked. */
const maxCompounds = 100

/** Linking elements between the parts of a compound: _Betriebsstunde_, _Pumpengehäuse_, _Bilderrahmen_. */
const links = ['', 's', 'es', 'n', 'en', 'er', 'e']
/** Possible endings of the last part of a compound. */
const endings = ['', 'e', 'en', 'n', 's', 'es', 'er', 'ern', 't']
const isWord = /^[a-z]{3,40}$/
const umlaut = /ae|oe|ue/

const worths = { form: 0.95, derived: 0.8, head: 0.75, modifier: 0.7, part: 0.9 }

/**
 * Other forms of the German words of a question, compounds with them, and parts of them, as far as the passages
 * of the bot contain them. Empty where neither the question nor the passages are German.
 *
 * @param question as it was typed
 */
export async function findGermanForms(
  db: Db,
  botId: string,
  question: string,
  terms: readonly string[],
): Promise<Substitutes> {
  const words = terms
    .filter((term) => term.length >= shortestWord && isWord.test(term))
    .sort((a, b) => b.length - a.length)
    .slice(0, maxWords)
  if (words.length === 0 || !mayBeGerman(toRuns(normalise(question)).map(({ text }) => text))) {
    return new Map()
  }
  if (!(await hasGermanWords(db, botId))) return new Map()
  const sought = words.map(toStemmed)
  const listed = await findWords(db, botId, {
    prefixes: distinct(sought.flatMap(toPrefixes)),
    suffixes: distinct(
      sought.filter(mayBeHead).flatMap(({ stem }) => endings.map((end) => stem + end)),
    ),
    words: distinct(words.flatMap(toParts)),
  })
  const others = listed.filter((word) => !isGermanGrammar(word)).map(toStemmed)
  const known = await findRests(db, botId, sought, others)
  const found = sought.map((each): [string, Map<string, number>] => {
    const { word } = each
    const near = others.flatMap((other): [string, number][] => {
      const worth = other.word === word ? 0 : worthOf(each, other, known)
      return worth > 0 ? [[other.word, worth]] : []
    })
    near.sort(([a, one], [b, another]) => another - one || (a < b ? -1 : 1))
    return [word, new Map(near.slice(0, maxForms))]
  })
  return new Map(found.filter(([, near]) => near.size > 0))
}

interface Stemmed {
  word: string
  stem: string
  /** The stem if it is a noun. */
  noun: string
}

function toStemmed(word: string): Stemmed {
  return { word, stem: germanStem(word), noun: nounStem(word) }
}

function worthOf(sought: Stemmed, other: Stemmed, known: ReadonlySet<string>): number {
  if (other.stem === sought.stem || other.noun === sought.noun) return worths.form
  if (rootOf(other.stem) === rootOf(sought.stem)) return worths.derived
  if (mayBeHead(sought) && endsWith(other.word, sought.stem)) return worths.head
  if (restsOf(sought, other).some((rest) => known.has(rest))) return worths.modifier
  // The worth of a part is its share of the word.
  return toParts(sought.word).includes(other.word) || isLastPart(sought, other)
    ? (worths.part * other.word.length) / sought.word.length
    : 0
}

function rootOf(stem: string): string {
  return verbalStem(stem) ?? stem
}

function mayBeHead({ stem }: Stemmed): boolean {
  return stem.length >= shortestHead || (stem.length >= shortestWord && umlaut.test(stem))
}

/** Whether a word ends with a form of a stem, after something that may be a word. */
function endsWith(word: string, stem: string): boolean {
  const at = word.lastIndexOf(stem)
  return at >= shortestModifier && germanStem(word.slice(at)) === stem
}

/** The rest of a word after another word, with and without a linking element. */
function restsOf({ stem }: Stemmed, other: Stemmed): string[] {
  if (!other.word.startsWith(stem)) return []
  const rest = other.word.slice(stem.length)
  return links
    .filter((link) => rest.startsWith(link))
    .map((link) => rest.slice(link.length))
    .filter(({ length }) => length >= shortestRest)
}

/** The rests that are words of the bot: `wechsel` in `oelwechsel`, not `matisch` in `automatisch`. */
async function findRests(
  db: Db,
  botId: string,
  sought: readonly Stemmed[],
  others: readonly Stemmed[],
): Promise<Set<string>> {
  const rests = sought.flatMap((each) =>
    others
      .filter(({ stem }) => stem !== each.stem)
      .map((other) => restsOf(each, other))
      .filter(({ length }) => length > 0)
      .slice(0, maxCompounds)
      .flat(),
  )
  return await findBeginnings(db, botId, distinct(rests))
}

/** The beginnings of the forms of a word, and of its last part if it is a compound. */
function toPrefixes({ word, stem, noun }: Stemmed): string[] {
  const verb = verbalStem(stem)
  const own = [noun, ...beginningsOf(stem), ...(verb === undefined ? [] : beginningsOf(verb))]
  return [...own, ...toLastParts(word).map(germanStem)]
}

/** The possible first parts and last parts of a compound. */
function toParts(word: string): string[] {
  if (word.length < shortestCompound) return []
  const cuts = Array.from(
    { length: word.length - 2 * shortestRest + 1 },
    (_, at) => at + shortestRest,
  )
  const first = cuts.flatMap((at) =>
    links.map((link) => (word.slice(0, at).endsWith(link) ? word.slice(0, at - link.length) : '')),
  )
  return distinct([...first.filter(({ length }) => length >= shortestRest), ...toLastParts(word)])
}

function toLastParts(word: string): string[] {
  if (word.length < shortestCompound) return []
  return Array.from({ length: word.length - 2 * shortestRest + 1 }, (_, at) =>
    word.slice(at + shortestRest),
  )
}

function isLastPart({ word }: Stemmed, other: Stemmed): boolean {
  return (
    word.length >= shortestCompound &&
    endsWith(word, other.stem) &&
    other.stem.length >= shortestRest
  )
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}

/** Separable verb prefixes, after which `ge` and `zu` are inserted: `abgelassen`, `abzulassen`. Longest first. */
const separablePrefixes =
  'zusammen herunter zurueck hinaus heraus herein voraus weiter wieder nieder durch ueber unter nach fest frei auf aus bei ein her hin los mit vor weg ab an um zu'.split(
    ' ',
  )
const participlePrefix = /^ge(?=\p{L}{4,}(?:t|te|ten|ter|tes|tem|en|ene|enen|ener|enes|enem)$)/u
const infinitivePrefix = /^zu(?=\p{L}{4,}n$)/u
/** Minimum length of the part after a prefix. */
const shortestVerb = 4
/** Placeholders for digraphs, so that no ending is removed from the middle of one. */
const signs: readonly (readonly [string, string])[] = [
  ['sch', '$'],
  ['ei', '%'],
  ['ie', '&'],
  ['ae', '1'],
  ['oe', '2'],
  ['ue', '3'],
]

/**
 * The common stem of the forms of a German word, after the stemmer CISTEM of Weissweiler and Fraser, extended by
 * `ge` and `zu` after verb prefixes: `gewechselt`, `wechseln` and `Wechsel` share a stem, and so do
 * `abgeschaltet`, `abzuschalten` and `abschalten`. It is not a word, and only for comparison.
 *
 * @param word normalised, with `ae`, `oe` and `ue`
 */
export function germanStem(word: string): string {
  const prefix = prefixOf(word)
  const verb = word.slice(prefix.length).replace(participlePrefix, '')
  return prefix + withoutEndings(prefix === '' ? verb : verb.replace(infinitivePrefix, ''))
}

/** The stem of a word that only looks like a participle: of `Geräten`, which is not a form of `raten`. */
export function nounStem(word: string): string {
  return withoutEndings(word)
}

/** The possible beginnings of words with a stem: the stem itself, and forms with `ge` or `zu`. */
function beginningsOf(stem: string): string[] {
  const prefix = prefixOf(stem)
  const verb = stem.slice(prefix.length)
  const own = [stem, `ge${stem}`]
  return prefix === '' ? own : [...own, `${prefix}ge${verb}`, `${prefix}zu${verb}`]
}

/** The stem of the verb from which a noun is derived: `wartung` and `warten`, `pruefung` and `pruefen`. */
export function verbalStem(stem: string): string | undefined {
  const verb = stem.replace(/(?<=\p{L}{4})ung$/u, '')
  return verb === stem ? undefined : withoutEndings(verb)
}

function prefixOf(word: string): string {
  const found = separablePrefixes.find(
    (each) => word.startsWith(each) && word.length - each.length >= shortestVerb,
  )
  return found ?? ''
}

/** An umlaut is two letters here, so that `oele` still has an ending. */
function lengthOf(stem: string): number {
  return stem.length + (stem.match(/[123]/g)?.length ?? 0)
}

function withoutEndings(word: string): string {
  let stem = word
  for (const [letters, sign] of signs) stem = stem.replaceAll(letters, sign)
  // A doubled letter counts as one.
  stem = stem.replace(/(.)\1/g, '$1*')
  for (;;) {
    const length = lengthOf(stem)
    if (length > 5 && /e(?:[mr]|nd)$/.test(stem)) stem = stem.slice(0, stem.endsWith('d') ? -3 : -2)
    else if ((length > 3 && /[esn]$/.test(stem)) || (length > 4 && stem.endsWith('t'))) {
      stem = stem.slice(0, -1)
    } else break
  }
  stem = stem.replace(/(.)\*/g, '$1$1')
  for (const [letters, sign] of signs) stem = stem.replaceAll(sign, letters)
  return stem
}
