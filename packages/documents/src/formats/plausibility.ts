import { languageProfiles } from './language-profiles.js'

/** Costs are negative natural logarithms of probabilities. */
type Cost = number

interface Language {
  script: string
  /** Cost of a pair of letters, by the code of the first one times 65,536 plus that of the second one. */
  pairs: ReadonlyMap<number, Cost>
  letters: ReadonlySet<number>
}

/** Cost of a character that is in no text: a control character, or half of another one. */
const impossible = 20
/** Cost of a pair of letters of the language that its profile does not have. */
const rarePair = 8
/** Cost of a letter that the language does not have, as in names and foreign words. */
const foreignLetter = 4
/** Cost of the letters that foreign words in texts of any Western language have. */
const westernLetter = 2
const westernLetters: ReadonlySet<number> = new Set(
  [...'éèêëàâäáçñôöóüúîïíãåøæß'].map((letter) => letter.charCodeAt(0)),
)
/** Cost of a word in another language than the text. */
const otherLanguage = 5
/** Cost of a lower-case letter before a capital within a word, and of the opposite. */
const caseChange = 7
/** Cost of two scripts in one word. */
const scriptChange = 7
/** Cost of an ideograph beside a letter of another script. */
const ideographChange = 9
/** Cost of an ideograph or a syllable that is not in the profile, but is one of the common ones ... */
const commonIdeograph = 8.5
/** ... and of any other. */
const rareIdeograph = 15
/** Cost of any ASCII character that is not a letter: it is the same in most encodings. */
const asciiSign = 2
const edge = '_'.charCodeAt(0)

/** Characters of texts that are no letters, although some of them count as such in Unicode. */
const punctuation: ReadonlySet<string> = new Set(
  '\u00a0‘’“”„‚«»‹›–—…•€§°·№¿¡،؟؛、。「」『』（）！，：；？・ー～《》【】％',
)
/** Signs that stand after a letter or before one, and others. */
const signsAfter: ReadonlySet<string> = new Set('²³¹ªº™®')
const signsBefore: ReadonlySet<string> = new Set('µ')
const otherSigns: ReadonlySet<string> = new Set('£¥©½¼¾±×÷¢¶†‡‰¦¨´¯¸¬ˆˇ˘˙˚˛˜˝΄΅\u00ad')
const boxPattern = /[\u2500-\u259f]/
const letterPattern = /[\p{L}\p{M}]/u
const impossiblePattern = /[\p{Cc}\p{Cn}\p{Co}\p{Cs}\ufffd]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for such characters
const layoutPattern = /[\t\n\v\f\r\x1a\x1b\b]/

let known: readonly Language[] | undefined

function languages(): readonly Language[] {
  known ??= languageProfiles.map(([, script, data]) => {
    const pairs = new Map<number, Cost>()
    const letters = new Set<number>([edge])
    for (const group of data.split(' ')) {
      const first = group.charCodeAt(0)
      letters.add(first)
      for (let at = 1; at + 1 < group.length; at += 2) {
        const second = group.charCodeAt(at)
        letters.add(second)
        pairs.set(first * 65_536 + second, Number.parseInt(group.charAt(at + 1), 36) / 3)
      }
    }
    return { script, pairs, letters }
  })
  return known
}

/** A judge of readings of the same bytes. It remembers words, which most readings share. */
export interface Judge {
  /**
   * The improbability of a text: by its letters and their neighbours in each language, by signs and capitals inside of
   * words, and by characters that no text has. Costs of readings of the same bytes can be compared.
   */
  costOf(text: string): Cost
}

export function createJudge(): Judge {
  const remembered = new Map<string, Float64Array>()

  /** The cost of a word in each language. */
  function wordCosts(word: string): Float64Array {
    const before = remembered.get(word)
    if (before !== undefined) return before
    const costs = Float64Array.from(languages(), (language) => costIn(language, word))
    remembered.set(word, costs)
    return costs
  }

  return {
    costOf(text) {
      const { words, cost } = readWords(text)
      const totals = languages().map(() => 0)
      for (const word of words) {
        const costs = wordCosts(word)
        const most = Math.min(...costs) + otherLanguage
        totals.forEach((total, at) => {
          totals[at] = total + Math.min(costs[at] ?? most, most)
        })
      }
      return cost + Math.min(...totals)
    },
  }
}

/** Words in small letters, and the cost of everything that does not depend on the language. */
function readWords(text: string): { words: string[]; cost: Cost } {
  const words: string[] = []
  let cost = 0
  let word = ''
  const close = () => {
    if (word !== '') words.push(word.toLowerCase())
    word = ''
  }
  const characters = [...text]
  characters.forEach((character, at) => {
    const previous = characters[at - 1] ?? ' '
    if (isLetter(character)) {
      cost += scriptCost(previous, character) + caseCost(word, character)
      if (isIdeographic(character) || isIdeographic(previous)) close()
      word += character
      return
    }
    close()
    cost += signCost(previous, character, characters[at + 1] ?? ' ')
  })
  close()
  return { words, cost }
}

function isLetter(character: string): boolean {
  if (character < '\u0080') return /[a-z]/i.test(character)
  return letterPattern.test(character) && !isSign(character)
}

function isSign(character: string): boolean {
  return [punctuation, signsAfter, signsBefore, otherSigns].some((signs) => signs.has(character))
}

function isIdeographic(character: string): boolean {
  return scriptOf(character) === 'ideographic'
}

function scriptOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x250 || (code >= 0x1e00 && code < 0x1f00)) return 'latin'
  if (code >= 0x300 && code < 0x370) return 'any'
  if (code < 0x400) return 'greek'
  if (code < 0x530) return 'cyrillic'
  if (code >= 0x590 && code < 0x600) return 'hebrew'
  if (code >= 0x600 && code < 0x780) return 'arabic'
  if (code >= 0xe00 && code < 0xe80) return 'thai'
  if (code >= 0x3040 && code < 0xd7b0) return 'ideographic'
  return 'other'
}

function scriptCost(previous: string, character: string): Cost {
  if (!isLetter(previous)) return 0
  const [before, after] = [scriptOf(previous), scriptOf(character)]
  if (before === after || before === 'any' || after === 'any') return 0
  return before === 'ideographic' || after === 'ideographic' ? ideographChange : scriptChange
}

/** @param word the letters before, in one word */
function caseCost(word: string, character: string): Cost {
  const previous = word.slice(-1)
  if (previous === '' || (previous < '\u0080' && character < '\u0080')) return 0
  if (isSmall(previous)) return isCapital(character) ? caseChange : 0
  const isLate = word.length > 1 && isCapital(previous) && isCapital(word.slice(-2, -1))
  return isLate && isSmall(character) ? caseChange : 0
}

function isCapital(letter: string): boolean {
  return letter !== letter.toLowerCase()
}

function isSmall(letter: string): boolean {
  return letter !== letter.toUpperCase()
}

function signCost(previous: string, character: string, next: string): Cost {
  if (character < '\u0080' && character >= ' ' && character !== '\u007f') return asciiSign
  if (layoutPattern.test(character)) return asciiSign
  if (boxPattern.test(character)) return boxCost(previous, character, next)
  if (impossiblePattern.test(character)) return impossible
  const isInside = isLetter(previous) && isLetter(next)
  if (character === '’') return isInside ? 6 : 7
  if (punctuation.has(character)) {
    // Ideographic texts have no spaces around signs.
    if (!isInside || isIdeographic(previous)) return 5.5
    return character === '—' ? 8 : 14
  }
  const isMisplaced =
    (isLetter(previous) && !signsAfter.has(character)) ||
    (isLetter(next) && !signsBefore.has(character))
  return (isSign(character) ? 8 : 10) + (isMisplaced ? 6 : 0)
}

/** Lines of a frame repeat their character, and touch no letters. */
function boxCost(previous: string, character: string, next: string): Cost {
  if (isLetter(previous) || isLetter(next)) return 14
  return character === previous ? 1 : 6
}

function costIn(language: Language, word: string): Cost {
  if (language.script === 'ideographic') return costOfCharacters(language, word)
  let cost = 0
  let first = edge
  for (let at = 0; at <= word.length; at += 1) {
    const second = at < word.length ? spelled(word.charCodeAt(at)) : edge
    cost += language.pairs.get(first * 65_536 + second) ?? rarePair
    if (!language.letters.has(second)) cost += strangeness(second)
    first = second
  }
  return cost
}

function strangeness(letter: number): Cost {
  if (letter < 0x80) return 0
  return westernLetters.has(letter) ? westernLetter : foreignLetter
}

/** Letters that old encodings have in another form. */
function spelled(code: number): number {
  if (code === 0x219) return 0x15f
  return code === 0x21b ? 0x163 : code
}

function costOfCharacters(language: Language, word: string): Cost {
  let cost = 0
  for (const character of word) {
    const code = character.codePointAt(0) ?? 0
    const other = commonIdeographs().has(character) ? commonIdeograph : rareIdeograph
    cost += language.pairs.get(edge * 65_536 + code) ?? other
  }
  return cost
}

let common: ReadonlySet<string> | undefined

/** The characters to which the standards of China, Taiwan, Japan and Korea gave their first rows. */
function commonIdeographs(): ReadonlySet<string> {
  common ??= new Set(
    [
      rowsOf('gb18030', 0xb0, 0xd7),
      rowsOf('euc-jp', 0xb0, 0xcf),
      rowsOf('euc-jp', 0xa4, 0xa5),
      rowsOf('euc-kr', 0xb0, 0xc8),
      rowsOf('big5', 0xa4, 0xc6),
    ].flatMap((characters) => [...characters]),
  )
  return common
}

function rowsOf(encoding: string, from: number, to: number): string {
  const bytes: number[] = []
  for (let row = from; row <= to; row += 1) {
    for (let cell = encoding === 'big5' ? 0x40 : 0xa1; cell <= 0xfe; cell += 1) {
      if (cell < 0x7f || cell > 0xa0) bytes.push(row, cell)
    }
  }
  return new TextDecoder(encoding).decode(Uint8Array.from(bytes)).replaceAll('\ufffd', '')
}
