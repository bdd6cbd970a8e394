/** Separable verb prefixes, after which `ge` and `zu` are inserted: `abgelassen`, `abzulassen`. Longest first. */
const separablePrefixes =
  'zusammen herunter zurueck hinaus heraus herein voraus weiter wieder nieder durch ueber unter nach fest frei auf aus bei ein her hin los mit vor weg ab an um zu'.split(
    ' ',
  )
const participlePrefix = /^ge(?=\p{L}{4,}(?:t|te|ten|ter|tes|tem|en|ene|enen|ener|enes|enem)$)/u
const infinitivePrefix = /^zu(?=\p{L}{4,}n$)/u
/** Least length of the part after a prefix. */
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
export function beginningsOf(stem: string): string[] {
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
