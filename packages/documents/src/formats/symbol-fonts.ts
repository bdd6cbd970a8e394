import type { OmissionPlace, Omissions } from '../document/omissions.js'

/**
 * The characters of fonts that show symbols in place of letters. Office programs store their characters in a private
 * range of Unicode, from U+F020 to U+F0FF, or as the letters whose keys were pressed.
 */

/** A table from a code of one byte: the characters of a text from a code on; blanks are unknown. */
function charactersFrom(...runs: readonly (readonly [from: number, characters: string])[]) {
  const table = new Map<number, string>()
  for (const [from, characters] of runs) {
    ;[...characters].forEach((character, at) => {
      if (character !== ' ') table.set(from + at, character)
    })
  }
  table.set(0x20, ' ')
  return table
}

const symbol = charactersFrom(
  [0x21, '!∀#∃%&∋()∗+,−./0123456789:;<=>?'],
  [0x40, '≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_'],
  [0x60, '‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼'],
  [0xa0, '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|―↵'],
  [0xc0, 'ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓'],
  [0xe0, '◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪'],
  [0xf1, '〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭'],
)

const wingdings = charactersFrom(
  [0x21, '✏✂✁👓🔔📖🕯☎✆✉🖃📪📫📬📭🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲💻🖴💾🖬✇✍'],
  [0x40, '🖎✌👌👍👎☜☞☝☟✋☺😐☹💣☠🏳🏱✈☼💧❄🕆✞🕈✠✡☪☯ॐ☸♈♉'],
  [0x60, '♊♋♌♍♎♏♐♑♒♓&&●❍■□❐❑❒⬧⧫◆❖⬥⌧⍓⌘❀✿❝❞'],
  [0x80, '⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿'],
  [0x9e, '·•⚪○◯◉◉◎○▪◻ ✦★✶✴✹✵⌖⌖⟡⌑ ✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛'],
  [0xd5, '⌫⌦←➢↑↓↩➲'],
  [0xdf, '←→↑↓↖↗↙↘←➔↑↓↖↗↙↘⇦⇨⇧⇩⇔⇕⬁⬀⬃⬂▭▫✗✓☒☑'],
)

const wingdings2 = charactersFrom(
  [0x21, '🖊🖋🖌🖍✄✀🕾🕽'],
  [0x45, '☜☞'],
  [0x4f, '✗✓☒☑☒☒'],
  [0x61, '①②③④⑤⑥⑦⑧⑨⑩'],
  [0x95, '•●'],
  [0x9e, '■□'],
  [0xa2, '■□'],
)

const wingdings3 = charactersFrom([0x21, '↠↦'], [0x66, '←→↑↓↖↗↙↘'], [0x70, '▲▼△▽◀▶◁▷'], [0x7d, '▶'])

const webdings = charactersFrom(
  [0x33, '◀▶▲▼⏪⏩⏮⏭⏸⏹⏺'],
  [0x4c, '🔍'],
  [0x59, '♥'],
  [0x61, '✓'],
  [0x63, '□'],
  [0x67, '■'],
  [0x69, 'ℹ'],
  [0x6e, '●'],
  [0x72, '✗'],
  [0x78, '⊗'],
  [0x9e, '📞'],
  [0xfe, '🌏'],
)

const fonts: Readonly<Record<string, ReadonlyMap<number, string>>> = {
  symbol,
  'symbol (standard)': symbol,
  wingdings,
  'wingdings 2': wingdings2,
  'wingdings 3': wingdings3,
  webdings,
}

/** Whether a font shows symbols in place of letters. */
export function isSymbolFont(font: string | undefined): font is string {
  return font !== undefined && Object.hasOwn(fonts, font.toLowerCase())
}

/** The character that a symbol font shows for a code; undefined if it is not known. */
export function symbolOf(font: string, code: number): string | undefined {
  const byte = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code
  const name = font.toLowerCase()
  return Object.hasOwn(fonts, name) ? fonts[name]?.get(byte) : undefined
}

/** Called for each character of a symbol font that is not known. */
export type OnUnknownSymbol = (font: string, code: number) => void

/** Makes a callback that reports unknown symbols with their font and code. */
export function unknownSymbolReporter(
  omissions: Omissions,
  place: OmissionPlace | undefined,
): OnUnknownSymbol {
  return (font, code) => {
    const detail = `${font} ${code.toString(16).toUpperCase()}`
    omissions.add('unknown_symbol', place, { detail })
  }
}

const privateUse = /[\ue000-\uf8ff]/

/**
 * A text as its font shows it. In other fonts, characters of the private range are mostly those of Wingdings: the
 * font of a symbol is not always stated.
 *
 * @param onUnknown called for each unknown character, which becomes a blank
 */
export function shownText(
  text: string,
  font: string | undefined,
  onUnknown: OnUnknownSymbol,
): string {
  const isSymbols = isSymbolFont(font)
  if (!isSymbols && !privateUse.test(text)) return text
  const show = (character: string): string => {
    const code = character.codePointAt(0) ?? 0
    const isPrivate = privateUse.test(character)
    if (!isPrivate && (!isSymbols || code > 0xff)) return character
    const found = symbolOf(isSymbols ? font : 'wingdings', code)
    if (found === undefined && code > 0x20) onUnknown(font ?? 'unknown font', code)
    return found ?? ' '
  }
  return [...text].map(show).join('')
}
