import { normalise } from '@botstead/documents/text'

const words = /[\p{L}\p{M}]+/gu
/** Scandinavian letters that the index stores without their marks. */
const writtenOutAs: Readonly<Record<string, string>> = { å: 'aa', ø: 'oe' }
const hasLetter = /[åø]/g
const secondVowels = /([aou])e|aa/g
/** Vowels that are varied in one word: each doubles its spellings, which are all compared with many words. */
const maxVowels = 4

/** Alternative spellings of a word of a question. */
export interface Spellings {
  /** With one letter for `ae`, `oe`, `ue`, `aa`, or with these for one letter of the index. */
  similar: readonly string[]
  /** With umlauts where it has none: many, which must match exactly. */
  marked: readonly string[]
}

/** Alternative spellings of the words of a question, by the word as it is in the index. */
export function toSpellings(text: string): Map<string, Spellings> {
  const spellings = new Map<string, Spellings>()
  for (const [raw] of text.normalize('NFKC').toLowerCase().matchAll(words)) {
    const word = normalise(raw)
    const writtenOut = normalise(raw.replace(hasLetter, (letter) => writtenOutAs[letter] ?? letter))
    const similar = new Set([writtenOut, ...withoutSecondVowels(word)])
    similar.delete(word)
    spellings.set(word, { similar: [...similar], marked: withMarks(word) })
  }
  return spellings
}

/** The word with each combination of its `ae`, `oe`, `ue` and `aa` as one letter. */
function withoutSecondVowels(word: string): string[] {
  const positions = [...word.matchAll(secondVowels)]
    .map(({ index }) => index + 1)
    .slice(0, maxVowels)
  const combinations = Array.from({ length: 2 ** positions.length - 1 }, (_, at) => at + 1)
  return combinations.map((chosen) =>
    [...word]
      .filter((_, at) => !(chosen & (1 << positions.indexOf(at))) || !positions.includes(at))
      .join(''),
  )
}

/** The forms that `normalise` makes of `ä`, `ö` and `ü`, and that people type without such keys. */
const umlautWrittenOut = /([aou])e/g

/** A word with `a`, `o` and `u` for all possible umlauts. */
export function withoutMarks(word: string): string {
  return word.replace(umlautWrittenOut, '$1')
}

/** The word with each combination of its `a`, `o` and `u` as umlauts: `brucke` gives `bruecke`. */
function withMarks(word: string): string[] {
  const positions = [...word.matchAll(/[aou](?!e)/g)].map(({ index }) => index).slice(0, maxVowels)
  const combinations = Array.from({ length: 2 ** positions.length - 1 }, (_, at) => at + 1)
  return combinations.map((chosen) =>
    [...word]
      .map((letter, at) =>
        chosen & (1 << positions.indexOf(at)) && positions.includes(at) ? `${letter}e` : letter,
      )
      .join(''),
  )
}

/** British and American beginnings and endings of words, where no general rule is safe. */
const pairs: readonly (readonly [string, string])[] = [
  ...'arm behavi cand clam col demean discol enam endeav fav ferv flav glam harb hon hum lab misdemean neighb od parl ranc rig rum sav splend succ tum val vap vig watercol'
    .split(' ')
    .map((stem) => [`${stem}our`, `${stem}or`] as const),
  ...'calib cent epicent fib goit lit lust meag met centimet kilomet millimet micromet nanomet och reconnoit sab scept sept somb spect theat amphitheat'
    .split(' ')
    .map((stem) => [`${stem}re`, `${stem}er`] as const),
  ...'anal catal dial epil monol prol homol'
    .split(' ')
    .map((stem) => [`${stem}ogue`, `${stem}og`] as const),
  ['cataloguing', 'cataloging'],
  ['licence', 'license'],
  ['licenc', 'licens'],
  ['defence', 'defense'],
  ['offence', 'offense'],
  ['pretence', 'pretense'],
  ['practise', 'practice'],
  ['practis', 'practic'],
  ['centring', 'centering'],
  ['centred', 'centered'],
  ['grey', 'gray'],
  ['tyre', 'tire'],
  ['aluminium', 'aluminum'],
  ['programme', 'program'],
  ['kerb', 'curb'],
  ['plough', 'plow'],
  ['sceptic', 'skeptic'],
  ['mould', 'mold'],
  ['moult', 'molt'],
  ['smoulder', 'smolder'],
  ['draught', 'draft'],
  ['pyjama', 'pajama'],
  ['artefact', 'artifact'],
  ['ageing', 'aging'],
  ['judgement', 'judgment'],
  ['acknowledgement', 'acknowledgment'],
  ['jewellery', 'jewelry'],
  ['jeweller', 'jeweler'],
  ['cosy', 'cozy'],
  ['yoghurt', 'yogurt'],
  ['learnt', 'learned'],
  ['spelt', 'spelled'],
  ['burnt', 'burned'],
  ['towards', 'toward'],
  ['woollen', 'woolen'],
  ['marvellous', 'marvelous'],
  ['skilful', 'skillful'],
  ['wilful', 'willful'],
  ['instalment', 'installment'],
  ['enrolment', 'enrollment'],
  ['fulfilment', 'fulfillment'],
  ['moustache', 'mustache'],
  ['manoeuv', 'maneuv'],
  ['manoeuvre', 'maneuver'],
]

/** Beginnings from Greek and Latin, with too many possible continuations to list. */
const openPairs: readonly (readonly [string, string])[] = [
  ['anaem', 'anem'],
  ['anaesth', 'anesth'],
  ['aesthet', 'esthet'],
  ['archaeo', 'archeo'],
  ['diarrhoe', 'diarrhe'],
  ['encyclopaed', 'encycloped'],
  ['foet', 'fet'],
  ['gynaec', 'gynec'],
  ['haem', 'hem'],
  ['leukaem', 'leukem'],
  ['mediaev', 'mediev'],
  ['oesoph', 'esoph'],
  ['oestrogen', 'estrogen'],
  ['orthopaed', 'orthoped'],
  ['paediatr', 'pediatr'],
  ['sulph', 'sulf'],
]

/** Words with a doubled letter in British forms, such as `travelled`, or in American ones, such as `enroll`. */
const doubledL =
  /^(cancel|carol|channel|counsel|dial|enrol|equal|fuel|fulfil|initial|instal|label|level|libel|marshal|marvel|model|panel|pencil|pedal|quarrel|refuel|rival|shovel|signal|spiral|swivel|total|towel|travel|tunnel|unravel|distil|relabel|remodel)(l?)(ed|ing|er|ers|or|ors|ation|s|)$/
/** Words that double the letter at their end only in American English: `enroll`, but not `travell`. */
const singleAtEnd = /^(enrol|fulfil|instal|distil)$/

/** `organise`, `analyse` and their forms; three letters before, so that `prise` does not match `prize`. */
const sibilantWord =
  /^(\p{L}{3,})(is|iz|lys|lyz)(e|es|ed|er|ers|ing|ation|ations|ational|able|ement)$/u
/** Possible endings after the beginning of a pair; `colorado` is not a form of `color`. */
const anyEnding =
  /^(?:e|s|es|d|ed|r|rs|er|ers|ing|ful|fully|less|able|ably|ite|ites|ist|ists|al|ally|hood|hoods|ly|y|ism|i[sz](?:e|es|ed|ing)|board|boards|ic|ics)?$/

const othersByStem = new Map<string, { stem: string; isOpen: boolean }[]>()
for (const [british, american] of pairs) add(british, american, false)
for (const [british, american] of openPairs) add(british, american, true)

function add(british: string, american: string, isOpen: boolean): void {
  othersByStem.set(british, [...(othersByStem.get(british) ?? []), { stem: american, isOpen }])
  othersByStem.set(american, [...(othersByStem.get(american) ?? []), { stem: british, isOpen }])
}

const shortestStem = 3
const maxStemLength = Math.max(...[...othersByStem.keys()].map(({ length }) => length))
const asciiWord = /^[a-z]{4,40}$/

/**
 * The British or American counterparts of an English word, of which a collection may contain either:
 * `licence` gives `license`. Empty for a word without a counterpart.
 *
 * @param word normalised
 */
export function toOtherEnglish(word: string): string[] {
  if (!asciiWord.test(word)) return []
  const others = new Set<string>()
  for (let length = shortestStem; length <= Math.min(maxStemLength, word.length); length++) {
    const ending = word.slice(length)
    const isForm = anyEnding.test(ending)
    for (const { stem, isOpen } of othersByStem.get(word.slice(0, length)) ?? []) {
      if (isOpen || isForm) others.add(join(stem, ending))
    }
  }
  const [, stem = '', sibilant = '', rest = ''] = sibilantWord.exec(word) ?? []
  if (stem !== '') {
    others.add(stem + sibilant.replace(/[sz]$/, (last) => (last === 's' ? 'z' : 's')) + rest)
  }
  const [, base = '', double = '', end = ''] = doubledL.exec(word) ?? []
  const isTogether = singleAtEnd.test(base) && (end === '' || end === 's')
  if (base !== '' && (isTogether || /^[aeio]/.test(end))) {
    others.add(`${base}${double === '' ? 'l' : ''}${end}`)
  }
  others.delete(word)
  return [...others]
}

/** `centre` and `s`, but `center` and `ing`: of two adjacent `e` one is dropped. */
function join(stem: string, ending: string): string {
  return stem.endsWith('e') && ending.startsWith('e') ? stem + ending.slice(1) : stem + ending
}
