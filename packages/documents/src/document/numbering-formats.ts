/**
 * Writes numbers of lists, chapters and notes in the formats of Office programs. Formats have the names of
 * Word, such as `lowerRoman`; those of other programs are translated to them.
 */

/** Larger numbers are written as decimal, so that none becomes a long text. */
const maxLetters = 780
const maxRoman = 32_767

const romans: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

function roman(value: number): string | undefined {
  if (value < 1 || value > maxRoman) return undefined
  let rest = value
  let text = ''
  for (const [worth, letters] of romans) {
    while (rest >= worth) {
      text += letters
      rest -= worth
    }
  }
  return text
}

/** After the last letter: twice the first one, as Word and PowerPoint count. */
function letters(value: number, alphabet: readonly string[]): string | undefined {
  if (value < 1 || value > maxLetters) return undefined
  const letter = alphabet[(value - 1) % alphabet.length] ?? ''
  return letter.repeat(Math.ceil(value / alphabet.length))
}

/** After `z`: `aa`, `ab` and so on, as in columns of sheets and in lists of OpenDocument and HTML. */
function columnLetters(value: number): string | undefined {
  if (value < 1) return undefined
  const last = String.fromCharCode(97 + ((value - 1) % 26))
  return value <= 26 ? last : `${columnLetters(Math.floor((value - 1) / 26)) ?? ''}${last}`
}

/** A sequence that starts over after its last sign. */
function cycle(value: number, signs: readonly string[]): string | undefined {
  return value < 1 ? undefined : signs[(value - 1) % signs.length]
}

/** A sequence that ends: `first` stands for the value `from`. */
function upTo(value: number, first: number, last: number, from = 1): string | undefined {
  const code = first + value - from
  return value < from || code > last ? undefined : String.fromCodePoint(code)
}

function inDigits(value: number, digits: readonly string[]): string {
  return String(value).replace(/\d/g, (digit) => digits[Number(digit)] ?? digit)
}

/** The rules by which a language of East Asia writes numbers. */
interface Counting {
  /** Zero to nine. */
  digits: readonly string[]
  /** One, ten, hundred, thousand, ten thousand. */
  units: readonly string[]
  /** Stands for skipped places within a number. */
  gap: string
  /** The units that stand without a one before them. */
  bare: 'leading ten' | 'all' | 'none'
}

function counting(value: number, how: Counting): string | undefined {
  if (value < 0 || value >= 100_000_000) return undefined
  if (value === 0) return how.digits[0]
  const high = Math.floor(value / 10_000)
  const low = value % 10_000
  if (high === 0) return countingBelowMyriad(low, how)
  const gap = low > 0 && low < 1000 ? how.gap : ''
  return `${countingBelowMyriad(high, how)}${how.units[4] ?? ''}${gap}${countingBelowMyriad(low, how)}`
}

function countingBelowMyriad(value: number, { digits, units, gap, bare }: Counting): string {
  let text = ''
  let skipped = false
  for (let power = 3; power >= 0; power -= 1) {
    const digit = Math.floor(value / 10 ** power) % 10
    if (digit === 0) {
      skipped = text !== ''
      continue
    }
    if (skipped) text += gap
    skipped = false
    const isBare =
      digit === 1 &&
      power > 0 &&
      (bare === 'all' || (bare === 'leading ten' && power === 1 && text === ''))
    text += (isBare ? '' : (digits[digit] ?? '')) + (units[power] ?? '')
  }
  return text
}

const signs = (text: string): string[] => [...text]

const chinese: Counting = {
  digits: signs('零一二三四五六七八九'),
  units: ['', '十', '百', '千', '万'],
  gap: '零',
  bare: 'leading ten',
}
const japanese: Counting = {
  ...chinese,
  digits: signs('〇一二三四五六七八九'),
  gap: '',
  bare: 'all',
}
const taiwanese: Counting = { ...chinese, units: ['', '十', '百', '千', '萬'] }
const legalSimplified: Counting = {
  digits: signs('零壹贰叁肆伍陆柒捌玖'),
  units: ['', '拾', '佰', '仟', '万'],
  gap: '零',
  bare: 'none',
}
const legalTraditional: Counting = {
  digits: signs('零壹貳參肆伍陸柒捌玖'),
  units: ['', '拾', '佰', '仟', '萬'],
  gap: '零',
  bare: 'none',
}
const legalJapanese: Counting = {
  digits: signs('零壱弐参四五六七八九'),
  units: ['', '拾', '百', '阡', '萬'],
  gap: '',
  bare: 'none',
}
const korean: Counting = {
  digits: signs('영일이삼사오육칠팔구'),
  units: ['', '십', '백', '천', '만'],
  gap: '',
  bare: 'all',
}

const ones =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const irregularOrdinals: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}

function cardinalWords(value: number): string | undefined {
  if (value < 0 || value > 99) return undefined
  if (value < 20) return ones[value]
  const ten = tens[Math.floor(value / 10) - 2] ?? ''
  return value % 10 === 0 ? ten : `${ten}-${ones[value % 10] ?? ''}`
}

function ordinalWords(value: number): string | undefined {
  const words = cardinalWords(value)
  if (words === undefined) return undefined
  const last = words.split('-').at(-1) ?? ''
  const ordinal = irregularOrdinals[last] ?? `${last.replace(/y$/, 'ie')}th`
  return `${words.slice(0, words.length - last.length)}${ordinal}`
}

function ordinal(value: number): string {
  const isTeen = value % 100 >= 11 && value % 100 <= 13
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
  return `${value}${ending}`
}

function capitalised(text: string | undefined): string | undefined {
  return text === undefined ? undefined : text.charAt(0).toUpperCase() + text.slice(1)
}

const latin = signs('abcdefghijklmnopqrstuvwxyz')
const russian = signs('абвгдежзиклмнопрстуфхцчшщыэюя')
const greek = signs('αβγδεζηθικλμνξοπρστυφχψω')
const hebrew = signs('אבגדהוזחטיכלמנסעפצקרשת')
const arabic = signs('أبتثجحخدذرزسشصضطظعغفقكلمنهوي')
const abjad = signs('أبجدهوزحطيكلمنسعفصقرشتثخذضظغ')
const thai = signs('กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ')
const stems = signs('甲乙丙丁戊己庚辛壬癸')
const branches = signs('子丑寅卯辰巳午未申酉戌亥')
const aiueo = signs(
  'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン',
)
const iroha = signs(
  'イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス',
)

/** By the names of Word. A number that a format cannot write is undefined. */
const formats: Readonly<Record<string, (value: number) => string | undefined>> = {
  decimal: String,
  decimalZero: (value) => String(value).padStart(2, '0'),
  upperRoman: (value) => roman(value)?.toUpperCase(),
  lowerRoman: roman,
  upperLetter: (value) => letters(value, latin)?.toUpperCase(),
  lowerLetter: (value) => letters(value, latin),
  upperColumn: (value) => columnLetters(value)?.toUpperCase(),
  lowerColumn: columnLetters,
  ordinal,
  cardinalText: (value) => capitalised(cardinalWords(value)),
  ordinalText: (value) => capitalised(ordinalWords(value)),
  hex: (value) => value.toString(16).toUpperCase(),
  numberInDash: (value) => `- ${value} -`,
  none: () => '',
  decimalFullWidth: (value) => inDigits(value, signs('０１２３４５６７８９')),
  decimalFullWidth2: (value) => inDigits(value, signs('０１２３４５６７８９')),
  decimalEnclosedCircle: (value) => upTo(value, 0x2460, 0x2473),
  decimalEnclosedCircleChinese: (value) => upTo(value, 0x2460, 0x2473),
  decimalEnclosedFullstop: (value) => upTo(value, 0x2488, 0x249b),
  decimalEnclosedParen: (value) => upTo(value, 0x2474, 0x2487),
  ideographEnclosedCircle: (value) => upTo(value, 0x3280, 0x3289),
  chineseCounting: (value) => counting(value, chinese),
  chineseCountingThousand: (value) => counting(value, chinese),
  chineseLegalSimplified: (value) => counting(value, legalSimplified),
  taiwaneseCounting: (value) => counting(value, taiwanese),
  taiwaneseCountingThousand: (value) => counting(value, taiwanese),
  ideographLegalTraditional: (value) => counting(value, legalTraditional),
  japaneseCounting: (value) => counting(value, japanese),
  japaneseLegal: (value) => counting(value, legalJapanese),
  koreanCounting: (value) => counting(value, korean),
  ideographDigital: (value) => inDigits(value, signs('〇一二三四五六七八九')),
  taiwaneseDigital: (value) => inDigits(value, signs('○一二三四五六七八九')),
  japaneseDigitalTenThousand: (value) => inDigits(value, signs('〇一二三四五六七八九')),
  koreanDigital: (value) => inDigits(value, signs('영일이삼사오육칠팔구')),
  koreanDigital2: (value) => inDigits(value, signs('零一二三四五六七八九')),
  ideographTraditional: (value) => cycle(value, stems),
  ideographZodiac: (value) => cycle(value, branches),
  ideographZodiacTraditional: (value) =>
    value < 1 ? undefined : `${cycle(value, stems) ?? ''}${cycle(value, branches) ?? ''}`,
  aiueo: (value) => cycle(value, aiueo),
  aiueoFullWidth: (value) => cycle(value, aiueo),
  iroha: (value) => cycle(value, iroha),
  irohaFullWidth: (value) => cycle(value, iroha),
  ganada: (value) => cycle(value, signs('가나다라마바사아자차카타파하')),
  chosung: (value) => cycle(value, signs('ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ')),
  russianLower: (value) => letters(value, russian),
  russianUpper: (value) => letters(value, russian)?.toUpperCase(),
  greekLower: (value) => letters(value, greek),
  greekUpper: (value) => letters(value, greek)?.toUpperCase(),
  hebrew2: (value) => letters(value, hebrew),
  arabicAlpha: (value) => letters(value, arabic),
  arabicAbjad: (value) => letters(value, abjad),
  thaiLetters: (value) => letters(value, thai),
  thaiNumbers: (value) => inDigits(value, signs('๐๑๒๓๔๕๖๗๘๙')),
  hindiNumbers: (value) => inDigits(value, signs('०१२३४५६७८९')),
}

/** A number in a format; in one that is not known, or that cannot write it, as decimal. */
export function writeNumber(value: number, format: string): string {
  return (Object.hasOwn(formats, format) ? formats[format]?.(value) : undefined) ?? String(value)
}
