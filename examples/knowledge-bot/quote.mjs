/** Maximum characters of a quote. */
const longest = 420
/** Shorter text may be only the name of a section, so the text after it is quoted too. */
const shortest = 60
/** Words of questions that do not name a subject. */
const empty = new Set(
  'a about an and any are as at be but by can could did do does for from get has have hello hi how i if in is it its me my no not of on or please should so tell than that the their there this to was we were what when where which who why will with would yes you your'.split(
    ' ',
  ),
)

/** Whether a text names a subject that can be searched. */
export function asksForSomething(question) {
  return stems(question).size > 0
}

/** Whether a text contains a word of the question. */
export function mentions(text, question) {
  const own = stems(text)
  return [...stems(question)].some((stem) => own.has(stem))
}

/**
 * The best quote of a passage for a question: the sentence with most of its words, and the
 * following text up to the limit.
 */
export function quote(passage, question) {
  const sentences = toBlocks(nameCells(passage)).flatMap(toSentences)
  const wanted = [...stems(question)]
  const own = sentences.map(stems)
  // Common words distinguish sentences less than rare ones.
  const weights = wanted.map((stem) => 1 / Math.max(1, own.filter((each) => each.has(stem)).length))
  const worth = own.map((each) =>
    wanted.reduce((sum, stem, at) => sum + (each.has(stem) ? weights[at] : 0), 0),
  )
  const best = worth.indexOf(Math.max(...worth))
  let chosen = sentences[best] ?? ''
  for (const next of sentences.slice(best + 1)) {
    const fits = chosen.length + next.length < longest
    if (!fits && chosen.length >= shortest) break
    chosen += ` ${next}`
    if (!fits) break
  }
  return cut(chosen.replace(/;$/, ''))
}

/** Cuts a text to the limit at a word boundary. */
function cut(text) {
  if (text.length <= longest) return text
  const room = text.slice(0, longest - 1)
  return `${room.slice(0, Math.max(room.lastIndexOf(' '), longest / 2)).trimEnd()}…`
}

/** Paragraphs, list items and rows: without headings, and without code unless there is nothing else. */
function toBlocks(passage) {
  const prose = passage.replaceAll(/^```.*?(?:^```$|$(?![\s\S]))/gms, '\n\n')
  const isOnlyCode = !toBlocksOf(prose).some(isText)
  return toBlocksOf(isOnlyCode ? passage : prose).filter(isText)
}

function toBlocksOf(text) {
  return text.split(/\n\s*\n|\n(?=\s*(?:[|*+#-]|\d+\.)\s?)/).map((block) => block.trim())
}

/** Whether a block is neither a heading nor a line that only draws something. */
function isText(block) {
  return /\p{L}/u.test(block) && !/^#{1,6}\s/.test(block)
}

/** The mark of a footnote, which means nothing without the note, and the one at the beginning of the note. */
const footnoteMark = /\[\^[^\]\s]+\]:?\s?/g

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })

function toSentences(block) {
  if (block.startsWith('|')) return [toRow(block)]
  const line = block.replaceAll(footnoteMark, '').replaceAll(/\s*\n\s*/g, ' ')
  return Array.from(segmenter.segment(line), ({ segment }) => segment.trim())
}

/** The non-empty cells of a table row, ended by a sign that separates it from the next row. */
function toRow(block) {
  return `${cellsOf(block)
    .filter((cell) => cell !== '')
    .join(' | ')};`
}

function cellsOf(row) {
  return row
    .trim()
    .replaceAll(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

/** The line between the header of a table and its rows. */
const tableRule = /^\s*\|[\s:|-]+$/

/** Puts the name of its column before each cell of a table, since a row is quoted without the header. */
function nameCells(text) {
  const lines = text.split('\n')
  let names = []
  return lines
    .flatMap((line, at) => {
      const isRow = /^\s*\|/.test(line)
      if (!isRow) names = []
      if (!isRow || tableRule.test(line)) return [line]
      if (tableRule.test(lines[at + 1] ?? '') && (lines[at + 2] ?? '').trim() !== '') {
        names = cellsOf(line)
        return []
      }
      const cells = cellsOf(line).map((cell, column) =>
        cell !== '' && names[column] ? `${names[column]}: ${cell}` : cell,
      )
      return [`| ${cells.join(' | ')} |`]
    })
    .join('\n')
}

/** The beginnings of significant words, so that forms of one word are equal. */
function stems(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []
  const significant = words.filter((word) => !empty.has(word))
  return new Set(significant.map((word) => word.slice(0, Math.max(4, word.length - 2))))
}
